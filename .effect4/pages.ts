/** Sentences of the pages that hold for Effect 3, and what the package for Effect 4 says instead. */
export const sentences: ReadonlyArray<readonly [before: string, after: string]> = [
  [
    "It needs **Effect 3** ([Effect 4](examples/guides/effect-4.md)), and a project with `\"type\": \"module\"`. `latest` of `effect` is Effect 4, so\nname the versions. The package",
    "It needs **Effect 4**, and a project with `\"type\": \"module\"`. The package"
  ],
  ["With Effect 4, npm stops with `ERESOLVE`, or Node with `ERR_MODULE_NOT_FOUND … effect/dist/Either.js`.\n\n", ""],
  ["| runs on                    | Effect 3 only ", "| runs on                    | Effect 4 only "],
  ["any `HttpClient` of `@effect/platform`", "any `HttpClient` of Effect"],
  [
    "The package needs **Effect 3**, Node 20 or later, and TypeScript 5.7 or later. `latest` of `effect` and of `@effect/platform-node` is\nEffect 4, so name the versions. It is",
    "The package needs **Effect 4**, Node 22 or later, and TypeScript 5.7 or later. It is"
  ],
  ["Node 20 or later", "Node 22 or later"],
  ["Node 20, 22, 24", "Node 22, 24    "],
  [
    "**Why Effect 3, if `latest` is 4?** Effect 4 renames modules that this package uses. One package cannot have both as peers. A program\non Effect 4 cannot use this version: npm says `ERESOLVE`, or Node `ERR_MODULE_NOT_FOUND`.",
    "**And Effect 3?** The versions before 2 are for Effect 3. Effect 4 renames modules that this package uses, and one package cannot have\nboth as peers."
  ],
  [
    "effect@4…`                | a package without a version is of Effect 4 ",
    "effect@3…`                | a package is of Effect 3                   "
  ],
  [
    "| `ERR_MODULE_NOT_FOUND … node_modules/effect/dist/Either.js`, or `FiberId.js` | Effect 4 is installed, with `--force` or `--legacy-peer-deps` | the lines above                                        |\n",
    ""
  ],
  [
    "`Effect.runPromise` rejects with a `FiberFailure`, which is no instance of your error. `Effect.either` keeps the error as it is, and a\n`ManagedRuntime` builds the layers once (`Effect`, `Either` and `ManagedRuntime` are of `effect`, the rest of\n`effect-identity-client`):",
    "`Effect.result` gives the error as a value, and a `ManagedRuntime` builds the layers once (`Effect`, `Result` and `ManagedRuntime` are of\n`effect`, the rest of `effect-identity-client`):"
  ],
  [
    "`Effect.runPromise` rejects with a `FiberFailure` that wraps the error. [Code with promises](getting-started.md#code-with-promises)\nshows how to get the error itself.",
    "`Effect.runPromise` rejects with the error itself: [code with promises](getting-started.md#code-with-promises)."
  ],
  [
    "On Node 20 the same happens once undici\n7 is loaded, which then serves `fetch`. `lean` always reads at once. Over `NodeHttpClient.layerUndici`, the client makes undici do\nthe same, up to `maxBodySize`.",
    "`lean` always reads at once. undici 8, which\n`NodeHttpClient.layerUndici` has, ends only the request."
  ],
  ["it comes from `@effect/cluster`", "it comes from `effect/cluster`"],
  ["`@effect/opentelemetry/Otlp`", "`effect/observability/Otlp`"],
  ["@effect/opentelemetry@0.64.1", "@effect/opentelemetry@4.1.0"],
  ["effect-identity-client 0.1.0", "effect-identity-client 2.0.0-next.0"],
  [
    "npm ci && npm pack --pack-destination ..   # in the clone: writes ../effect-identity-client-0.1.0.tgz",
    "npm ci && npm run effect4 -- --pack && cp .effect4/out/effect-identity-client-2.0.0-next.0.tgz ..   # in the clone"
  ],
  ["effect-identity-client-0.1.0.tgz", "effect-identity-client-2.0.0-next.0.tgz"],
  // vitest 5 refuses the types of Node 20, with which the sources of both lines are checked.
  ["@types/node@20.19.43", "@types/node@22.20.5"],
  ["PostgreSQL; later versions need Effect 4", "PostgreSQL                              "]
]

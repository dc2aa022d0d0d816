/** Tools of the tests: servers on the stage, clients and comparisons. Nothing here depends on a runtime. */
import type { HttpClient } from "@effect/platform"
import { Cause, type Clock, Context, Data, Effect, Layer, Redacted, type Scope } from "effect"
import { type Errors, IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import type { CannedResponse, OpenedServer, Scene } from "./scenes.js"

/** URL of the stage, and the row of the table that runs: a runtime and its transport. */
export class Stage extends Context.Tag("test/runtimes/Stage")<Stage, {
  readonly url: string
  readonly runtime: string
}>() {}

/** Test that passes if its effect succeeds. */
export interface Test {
  readonly name: string
  readonly run: Effect.Effect<void, unknown, HttpClient.HttpClient | Stage | Scope.Scope>
}

export const test = (name: string, run: Test["run"]): Test => ({ name, run })

/** A comparison that does not hold. */
class CheckFailed extends Data.TaggedError("Untrue")<{ readonly message: string }> {}

/** Writes JSON with sorted fields. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, field: unknown) =>
    typeof field === "object" && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => a < b ? -1 : 1))
      : field) ?? "undefined"

/** Checks that two values are equal as JSON. */
export const equal = (actual: unknown, expected: unknown, what = "value"): Effect.Effect<void, CheckFailed> =>
  canonicalJson(actual) === canonicalJson(expected)
    ? Effect.void
    : new CheckFailed({ message: `${what}: expected ${canonicalJson(expected)}, found ${canonicalJson(actual)}` })

export const isTrue = (condition: boolean, what: string): Effect.Effect<void, CheckFailed> =>
  condition ? Effect.void : new CheckFailed({ message: `expected: ${what}` })

/** Checks that an object has these fields, as JSON. */
export const hasFields = (actual: object, fields: object): Effect.Effect<void, CheckFailed> =>
  equal(
    Object.fromEntries(Object.keys(fields).map((name) => [name, (actual as Record<string, unknown>)[name]])),
    fields,
    String(actual)
  )

/** Checks that an effect fails with this class and at least these fields. Returns the failure. */
export const failsWith = <A, E extends { readonly _tag: string }, R, Tag extends E["_tag"]>(
  self: Effect.Effect<A, E, R>,
  tag: Tag,
  fields: object = {}
): Effect.Effect<Extract<E, { readonly _tag: Tag }>, CheckFailed, R> =>
  Effect.matchEffect(self, {
    onSuccess: (value) => new CheckFailed({ message: `expected ${tag}, found a success: ${canonicalJson(value)}` }),
    onFailure: (error) =>
      Effect.as(hasFields(error, { _tag: tag, ...fields }), error as Extract<E, { readonly _tag: Tag }>) // sound: just compared
  })

// Requests to the stage use the runtime's own `fetch`; the transport under test is not used.
const requestStage = (path: string, method: string, body?: unknown) =>
  Effect.flatMap(Stage, ({ url }) =>
    Effect.promise(async (signal): Promise<unknown> => {
      const response = await fetch(`${url}${path}`, {
        method,
        signal,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
      })
      const result: unknown = await response.json()
      if (!response.ok) throw new Error(`the stage responds with ${response.status}: ${JSON.stringify(result)}`)
      return result
    }))

export interface Server extends OpenedServer {
  /** Sends an order to the server, and returns its result. */
  readonly order: <A = unknown>(name: string, input?: unknown) => Effect.Effect<A, never, Stage>
}

/** Opens a server until the scope is closed. */
export const open = (scene: Scene): Effect.Effect<Server, never, Stage | Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      requestStage("/scenes", "POST", scene) as Effect.Effect<OpenedServer, never, Stage>, // sound: the stage is ours
      ({ id }) => requestStage(`/scenes/${id}`, "DELETE")
    ),
    (opened) => ({
      ...opened,
      order: <A>(name: string, input: unknown = {}) =>
        requestStage(`/scenes/${opened.id}/${name}`, "POST", input) as Effect.Effect<A, never, Stage> // sound: the caller knows its scene
    })
  )

export const tenant = (options: Tenant.Options = {}) => open({ scene: "tenant", options })

export const responses = (...responses: ReadonlyArray<CannedResponse>) => open({ scene: "responses", responses })

/** Request in the tenant's log. */
export interface TenantRequest {
  readonly method: string
  readonly path: string
  readonly operation?: string
  readonly status?: number
  readonly contentType?: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: ReadonlyArray<readonly [string, string]>
  readonly body?: unknown
}

/** Returns the requests that reached a tenant, without token requests. */
export const calls = (server: Server) =>
  Effect.map(
    server.order<ReadonlyArray<TenantRequest>>("requests"),
    (all) => all.filter(({ operation }) => operation !== "token")
  )

/** Counts the token requests that reached a tenant. */
export const tokenRequests = (server: Server) =>
  Effect.map(
    server.order<ReadonlyArray<TenantRequest>>("requests"),
    (all) => all.filter(({ operation }) => operation === "token").length
  )

/** Request in the log of a bare server. */
export interface RawRequest {
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Texts that no output may show. */
export const secrets = { token: "kq7zv3-token-5911", client: Redacted.value(Tenant.demoClients.full.secret) }

export const bearer = TokenProvider.layerBearer(Redacted.make(secrets.token))

/** Provides a new token after each that is refused. */
export const tokens = Layer.suspend(() => {
  let nth = 0
  return TokenProvider.layerEffect(Effect.sync(() => ({ token: Redacted.make(`${secrets.token}-${++nth}`) })))
})

/** Client credentials of the demo tenant. */
export const credentials = (
  { origin }: OpenedServer,
  { id, secret }: { readonly id: string; readonly secret: Redacted.Redacted } = Tenant.demoClients.full
) => TokenProvider.layerClientCredentials({ authUrl: origin, clientId: id, clientSecret: secret })

/** Builds the client from these layers. The limiter is provided too. */
export const clientOver = <E, R, E2, R2>(
  server: OpenedServer,
  tokens: Layer.Layer<TokenProvider.TokenProvider, E, R>,
  limiter: Layer.Layer<RateLimiter.RateLimiter, E2, R2>,
  defaults: IdentityClient.Defaults = {}
) =>
  IdentityClient.layer({ ...defaults, baseUrl: server.url }).pipe(
    Layer.provide(tokens),
    Layer.provideMerge(limiter)
  )

/** Builds the client with client credentials and the adaptive limiter by default. */
export const clientOf = (
  server: OpenedServer,
  { defaults, limiter = RateLimiter.layer, tokens = credentials(server) }: {
    readonly defaults?: IdentityClient.Defaults
    readonly limiter?: Layer.Layer<RateLimiter.RateLimiter, Errors.InvalidInput>
    readonly tokens?: ReturnType<typeof credentials>
  } = {}
) => clientOver(server, tokens, limiter, defaults)

/** Builds the client of a bare server, with a fixed token and without rate limits. */
export const bareClient = (server: OpenedServer, defaults: IdentityClient.Defaults = {}) =>
  clientOver(server, bearer, RateLimiter.layerUnlimited, defaults)

/** Runs an effect with a clock that is ahead by this time, in milliseconds. */
export const withClockAhead = <A, E, R>(millis: number, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.clockWith((clock) => {
    const ahead: Clock.Clock = Object.assign(Object.create(clock), {
      unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + millis,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis)
    })
    return Effect.withClock(self, ahead)
  })

/** Collects all strings in a value: names and values of its properties at any depth, enumerable or not. */
const collectTexts = (value: unknown, seen: Set<unknown>, texts: Array<string>): void => {
  if (typeof value === "string") texts.push(value)
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return
  seen.add(value)
  for (const name of Reflect.ownKeys(value)) {
    texts.push(String(name))
    const { value: property } = Object.getOwnPropertyDescriptor(value, name) ?? {}
    collectTexts(property, seen, texts)
  }
  if (value instanceof Map || value instanceof Set) collectTexts([...value], seen, texts)
}

/** Returns all strings in a value. */
export const reachableText = (value: unknown): string => {
  const texts: Array<string> = []
  collectTexts(value, new Set(), texts)
  return texts.join("\n")
}

/** Returns all that a program can print of a failure, and all strings in it. */
export const printedText = (error: unknown): string => {
  const texts = [
    String(error),
    JSON.stringify(error),
    Cause.pretty(Cause.fail(error), { renderErrorCause: true }),
    String(Cause.fail(error)),
    reachableText(error)
  ]
  if (error instanceof Error) texts.push(error.message, String(error.stack))
  return texts.join("\n")
}

/** Checks that a text contains none of these words. */
export const lacks = (text: string, words: Readonly<Record<string, string>>): Effect.Effect<void, CheckFailed> =>
  Effect.forEach(
    Object.entries(words),
    ([name, word]) => isTrue(!text.includes(word), `the printed text lacks the ${name}`),
    {
      discard: true
    }
  )

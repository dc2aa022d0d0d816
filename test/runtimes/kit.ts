/** What a test is made of: the stage it orders its servers from, the client, and comparisons. Nothing in it is of one runtime. */
import type { HttpClient } from "@effect/platform"
import { Cause, Context, Data, Effect, Layer, Redacted, type Scope } from "effect"
import { type Errors, IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import type { Answer, Opened, Scene } from "./scenes.js"

/** Where the stage is, and on which runtime, over which transport, the tests run. */
export class Stage extends Context.Tag("test/runtimes/Stage")<Stage, {
  readonly url: string
  readonly runtime: string
}>() {}

/** A test: an effect that fails if what it tells is not so. */
export interface Test {
  readonly name: string
  readonly run: Effect.Effect<void, unknown, HttpClient.HttpClient | Stage | Scope.Scope>
}

export const test = (name: string, run: Test["run"]): Test => ({ name, run })

/** What a test tells is not so. */
class Untrue extends Data.TaggedError("Untrue")<{ readonly message: string }> {}

/** A value as text in which the order of members says nothing. */
const plain = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => a < b ? -1 : 1))
      : member) ?? "undefined"

/** Holds if two values are the same as JSON. */
export const equal = (actual: unknown, expected: unknown, what = "value"): Effect.Effect<void, Untrue> =>
  plain(actual) === plain(expected)
    ? Effect.void
    : new Untrue({ message: `${what}: expected ${plain(expected)}, found ${plain(actual)}` })

export const isTrue = (condition: boolean, what: string): Effect.Effect<void, Untrue> =>
  condition ? Effect.void : new Untrue({ message: `not so: ${what}` })

/** Holds if an object has these members, as JSON. */
export const has = (actual: object, members: object): Effect.Effect<void, Untrue> =>
  equal(
    Object.fromEntries(Object.keys(members).map((name) => [name, (actual as Record<string, unknown>)[name]])),
    members,
    String(actual)
  )

/** Holds if an effect fails in the way of this class, with these members at least; gives the failure. */
export const failsWith = <A, E extends { readonly _tag: string }, R, Tag extends E["_tag"]>(
  self: Effect.Effect<A, E, R>,
  tag: Tag,
  members: object = {}
): Effect.Effect<Extract<E, { readonly _tag: Tag }>, Untrue, R> =>
  Effect.matchEffect(self, {
    onSuccess: (value) => new Untrue({ message: `expected ${tag}, found a success: ${plain(value)}` }),
    onFailure: (error) => Effect.as(has(error, { _tag: tag, ...members }), error as Extract<E, { readonly _tag: Tag }>) // sound: just compared
  })

// The stage is asked over the runtime's own `fetch`, which is not what is tested.
const ask = (path: string, method: string, body?: unknown) =>
  Effect.flatMap(Stage, ({ url }) =>
    Effect.promise(async (signal): Promise<unknown> => {
      const response = await fetch(`${url}${path}`, {
        method,
        signal,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
      })
      const answer: unknown = await response.json()
      if (!response.ok) throw new Error(`the stage answers ${response.status}: ${JSON.stringify(answer)}`)
      return answer
    }))

export interface Server extends Opened {
  /** Asks or tells the server something. */
  readonly order: <A = unknown>(name: string, input?: unknown) => Effect.Effect<A, never, Stage>
}

/** A server of one's own, as long as the scope is open. */
export const open = (scene: Scene): Effect.Effect<Server, never, Stage | Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      ask("/scenes", "POST", scene) as Effect.Effect<Opened, never, Stage>, // sound: the stage is ours
      ({ id }) => ask(`/scenes/${id}`, "DELETE")
    ),
    (opened) => ({
      ...opened,
      order: <A>(name: string, input: unknown = {}) =>
        ask(`/scenes/${opened.id}/${name}`, "POST", input) as Effect.Effect<A, never, Stage> // sound: the caller knows its scene
    })
  )

export const tenant = (options: Tenant.Options = {}) => open({ scene: "tenant", options })

export const answers = (...answers: ReadonlyArray<Answer>) => open({ scene: "answers", answers })

/** What the tenant tells of the requests that it received. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly operation?: string
  readonly status?: number
  readonly contentType?: string
  readonly headers: Readonly<Record<string, string>>
  readonly query: ReadonlyArray<readonly [string, string]>
  readonly body?: unknown
}

/** The requests that reached a tenant, those for tokens left out. */
export const calls = (server: Server) =>
  Effect.map(
    server.order<ReadonlyArray<Received>>("requests"),
    (all) => all.filter(({ operation }) => operation !== "token")
  )

/** How many tokens a tenant was asked for. */
export const tokenRequests = (server: Server) =>
  Effect.map(
    server.order<ReadonlyArray<Received>>("requests"),
    (all) => all.filter(({ operation }) => operation === "token").length
  )

/** A request as a bare server saw it. */
export interface Raw {
  readonly line: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What no output may show. */
export const secrets = { token: "kq7zv3-token-5911", client: Redacted.value(Tenant.demoClients.full.secret) }

export const bearer = TokenProvider.layerBearer(Redacted.make(secrets.token))

/** Tokens of one's own, another for each that is refused. */
export const tokens = Layer.suspend(() => {
  let nth = 0
  return TokenProvider.layerEffect(Effect.sync(() => ({ token: Redacted.make(`${secrets.token}-${++nth}`) })))
})

/** Credentials of a client of the demo tenant. */
export const credentials = (
  { origin }: Opened,
  { id, secret }: { readonly id: string; readonly secret: Redacted.Redacted } = Tenant.demoClients.full
) => TokenProvider.layerClientCredentials({ authUrl: origin, clientId: id, clientSecret: secret })

/** The client over these layers; what the limiter knows can be asked. */
export const clientOver = <E, R, E2, R2>(
  server: Opened,
  tokens: Layer.Layer<TokenProvider.TokenProvider, E, R>,
  limiter: Layer.Layer<RateLimiter.RateLimiter, E2, R2>,
  defaults: IdentityClient.Defaults = {}
) =>
  IdentityClient.layer({ ...defaults, baseUrl: server.url }).pipe(
    Layer.provide(tokens),
    Layer.provideMerge(limiter)
  )

/** The client, all of it switched on: with tokens by client credentials and the learning limiter unless told otherwise. */
export const clientOf = (
  server: Opened,
  { defaults, limiter = RateLimiter.layer, tokens = credentials(server) }: {
    readonly defaults?: IdentityClient.Defaults
    readonly limiter?: Layer.Layer<RateLimiter.RateLimiter, Errors.InvalidInput>
    readonly tokens?: ReturnType<typeof credentials>
  } = {}
) => clientOver(server, tokens, limiter, defaults)

/** The client of a bare server: it has a token of its own and holds nothing back. */
export const bareClient = (server: Opened, defaults: IdentityClient.Defaults = {}) =>
  clientOver(server, bearer, RateLimiter.layerUnlimited, defaults)

/** All text that can be reached from a value: its members at any depth, whether they are shown or not. */
const reach = (value: unknown, seen: Set<unknown>, texts: Array<string>): void => {
  if (typeof value === "string") texts.push(value)
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return
  seen.add(value)
  for (const name of Reflect.ownKeys(value)) {
    texts.push(String(name))
    const { value: member } = Object.getOwnPropertyDescriptor(value, name) ?? {}
    reach(member, seen, texts)
  }
  if (value instanceof Map || value instanceof Set) reach([...value], seen, texts)
}

/** Everything that a program can find in a value. */
export const found = (value: unknown): string => {
  const texts: Array<string> = []
  reach(value, new Set(), texts)
  return texts.join("\n")
}

/** Everything that a program can print of a failure, or find in it. */
export const printed = (error: unknown): string => {
  const texts = [
    String(error),
    JSON.stringify(error),
    Cause.pretty(Cause.fail(error), { renderErrorCause: true }),
    String(Cause.fail(error)),
    found(error)
  ]
  if (error instanceof Error) texts.push(error.message, String(error.stack))
  return texts.join("\n")
}

/** Holds if a text holds none of these. */
export const lacks = (text: string, words: Readonly<Record<string, string>>): Effect.Effect<void, Untrue> =>
  Effect.forEach(
    Object.entries(words),
    ([name, word]) => isTrue(!text.includes(word), `no ${name} in what is printed`),
    {
      discard: true
    }
  )

/**
 * A worker that lists the versions of an action for callers that know its secret: without one, anybody could
 * read what the worker may read. It
 * builds its layers for each request, which owns connections.
 */
import { FetchHttpClient } from "@effect/platform"
import { Config, ConfigProvider, Effect, Layer, Redacted } from "effect"
import { IdentityClient, listActionVersions, RateLimiter, TokenProvider } from "effect-identity-client"

const IdentityLive = IdentityClient.layerConfig({ baseUrl: Config.string("IDENTITY_BASE_URL") }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerClientCredentialsConfig({
    authUrl: Config.string("IDENTITY_AUTH_URL"),
    clientId: Config.string("IDENTITY_CLIENT_ID"),
    clientSecret: Config.redacted("IDENTITY_CLIENT_SECRET")
  })),
  Layer.provide(FetchHttpClient.layer)
)

/** Of digests, the time of a comparison tells nothing about the texts. */
const digest = (text: string) =>
  Effect.promise(() => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).pipe(
    Effect.map((bytes) => new Uint8Array(bytes).join())
  )

/** Whether a request has the header `Authorization: Bearer WORKER_SECRET`. */
const isKnown = (request: Request) =>
  Effect.gen(function*() {
    const secret = yield* Config.redacted("WORKER_SECRET")
    const given = yield* digest(request.headers.get("authorization") ?? "")
    if (Redacted.value(secret) === "") return yield* Effect.fail("WORKER_SECRET is empty")
    return given === (yield* digest(`Bearer ${Redacted.value(secret)}`))
  })

/** Responds with some fields only: a version also has the code of the action. */
const versions = (actionId: string) =>
  listActionVersions({ actionId }).pipe(
    Effect.map(({ total = 0, versions }) =>
      Response.json({ total, versions: versions.map(({ deployed, id, number }) => ({ deployed, id, number })) })
    ),
    Effect.provide(IdentityLive)
  )

export default {
  fetch: (request: Request, env: Readonly<Record<string, string>>): Promise<Response> =>
    Effect.flatMap(isKnown(request), (known) =>
      known
        ? versions(new URL(request.url).pathname.slice(1))
        : Effect.succeed(Response.json({ error: "unauthorized" }, { status: 401 }))).pipe(
        // The log has the message, which may name what a caller should not know.
        Effect.tapError((error) => Effect.logError(String(error))),
        Effect.catchAll(() => Effect.succeed(Response.json({ error: "failed" }, { status: 502 }))),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
        Effect.runPromise
      )
}

/** Tokens, rate limits and retries. */
import { Effect, Either, Fiber, Layer, Redacted } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  listActionVersions,
  RateLimiter,
  redeliverEvent,
  Retry,
  TokenProvider,
  updateTokenExchangeProfile
} from "effect-identity-client"
import * as Fleet from "effect-identity-client/Fleet"
import * as Tenant from "effect-identity-client/Tenant"
import {
  bareClient,
  bearer,
  calls,
  clientOf,
  clientOver,
  equal,
  failsWith,
  isTrue,
  type RawRequest,
  responses,
  tenant,
  type TenantRequest,
  test,
  tokenRequests
} from "../kit.js"

const { actions: [action], streams: [stream] } = Tenant.demo

const list = listActionVersions({ actionId: action.id })
const many = (n: number) => Effect.all(Array.from({ length: n }, () => list), { concurrency: "unbounded" })

const ample = { tenant: { burst: 1000, refill: 1000, per: "1 second" } } as const
const small = { tenant: { burst: 5, refill: 20, per: "1 second" } } as const

const statuses = Effect.fnUntraced(function*(server: Parameters<typeof calls>[0]) {
  return (yield* calls(server)).map(({ status }) => status)
})

export const tokens = [
  test(
    "client credentials: one token request for two calls, with the contract's fields",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* Effect.provide(Effect.zipRight(list, list), clientOf(server))
      const all = yield* server.order<ReadonlyArray<TenantRequest>>("requests")
      const asked = all.filter(({ operation }) => operation === "token")
      yield* equal(asked.map(({ body, path }) => ({ body, path })), [{
        path: "/oauth/token/",
        body: {
          grant_type: "client_credentials",
          client_id: Tenant.demoClients.full.id,
          client_secret: "<redacted>",
          audience: "/api/v2/"
        }
      }])
    })
  ),

  test(
    "client credentials: forty concurrent first calls send one token request",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: ample })
      yield* Effect.provide(many(40), clientOf(server))
      yield* equal(yield* tokenRequests(server), 1)
    })
  ),

  test(
    "client credentials: after a 401 all calls share one new token, and none fails",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: ample })
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* many(10)
          yield* server.order("revoke")
          yield* many(10)
        }),
        clientOf(server, { limiter: RateLimiter.layerUnlimited })
      )
      yield* equal(yield* tokenRequests(server), 2)
      const received = yield* statuses(server)
      yield* equal(received.filter((status) => status === 200).length, 20)
      yield* isTrue(received.includes(401), "a call has status 401")
    })
  ),

  test(
    "client credentials: a call that is not idempotent is replayed after a 401",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* list
          yield* server.order("revoke")
          yield* Retry.withoutRetries(redeliverEvent({ id: stream.id, event_id: stream.events[0].id }))
        }),
        clientOf(server)
      )
      yield* equal(yield* statuses(server), [200, 401, 202])
    })
  ),

  test(
    "client credentials: a failed token request is retried",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* server.order("injectFault", { operation: "token", status: 503 })
      yield* Effect.provide(list, clientOf(server))
      yield* equal(yield* tokenRequests(server), 2)
    })
  ),

  test(
    "client credentials: an expired token is replaced",
    Effect.gen(function*() {
      const server = yield* tenant({ tokenLifetime: "3 seconds" })
      yield* Effect.provide(Effect.zipRight(list, Effect.delay(list, "3 seconds")), clientOf(server))
      yield* equal([yield* tokenRequests(server), yield* statuses(server)], [2, [200, 200]])
    })
  ),

  test(
    "a web page from the token endpoint is a TokenError",
    Effect.gen(function*() {
      const server = yield* responses({
        headers: { "content-type": "text/html" },
        body: "<html><title>Login</title></html>"
      })
      yield* Effect.provide(failsWith(list, "TokenError", { status: 200 }), clientOf(server))
    })
  ),

  test(
    "layerEffect: runs the effect again after a 401",
    Effect.gen(function*() {
      const server = yield* responses({ status: 401 }, { status: 204 })
      let nth = 0
      const own = TokenProvider.layerEffect(Effect.sync(() => ({ token: Redacted.make(`mine-${++nth}`) })))
      yield* Effect.provide(
        deleteEventStream({ id: stream.id }),
        clientOf(server, { tokens: own, limiter: RateLimiter.layerUnlimited })
      )
      const requests = yield* server.order<ReadonlyArray<RawRequest>>("requests")
      yield* equal(requests.map(({ headers }) => headers["authorization"]), ["Bearer mine-1", "Bearer mine-2"])
    })
  ),

  test(
    "a fleet shares one encrypted token and one limit through a store",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: small })
      const tokens = TokenProvider.layerClientCredentials({
        authUrl: server.origin,
        clientId: Tenant.demoClients.full.id,
        clientSecret: Tenant.demoClients.full.secret
      }).pipe(Layer.provide(Fleet.layerTokensWith({
        encryptionKey: Redacted.make("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
      })))
      yield* Effect.gen(function*() {
        const store = yield* Layer.build(Fleet.SharedStore.layerMemory)
        const fleetMember = Effect.provide(
          many(8),
          Layer.fresh(Layer.provide(clientOver(server, tokens, Fleet.layerRateLimiter), Layer.succeedContext(store)))
        )
        yield* Effect.all([fleetMember, fleetMember], { concurrency: 2 })
      })
      // On a busy machine the store may take too long, and then a process gets a token of its own.
      const requested = yield* tokenRequests(server)
      yield* isTrue(requested <= 2, `${requested} tokens were requested`)
      yield* equal((yield* statuses(server)).filter((status) => status === 200).length, 16)
    })
  )
]

export const limits = [
  test(
    "the adaptive limiter finds the limit and stays within it",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: small })
      const [known] = yield* Effect.provide(Effect.zipRight(many(15), RateLimiter.status), clientOf(server))
      // On a busy machine calls arrive in bursts, and one may come too early.
      const received = yield* statuses(server)
      yield* equal(received.filter((status) => status === 200).length, 15)
      yield* isTrue(received.length <= 17, `${received.length - 15} calls have status 429`)
      yield* equal([known?.limit, known?.operation], [5, "listActionVersions"])
    })
  ),

  test(
    "the adaptive limiter separates operations with different buckets",
    Effect.gen(function*() {
      const server = yield* tenant({ buckets: { ...ample, profileUpdates: { burst: 1, refill: 1, per: "1 hour" } } })
      const [profile] = Tenant.demo.profiles
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* updateTokenExchangeProfile({ id: profile.id, name: "First" })
          const throttled = yield* Effect.fork(updateTokenExchangeProfile({ id: profile.id, name: "Second" }))
          yield* many(10)
          yield* Fiber.interrupt(throttled)
        }),
        clientOf(server)
      )
      yield* equal((yield* calls(server)).length, 11)
    })
  ),

  test(
    "the fixed limiter stays within its limit",
    Effect.gen(function*() {
      const server = yield* tenant()
      const limiter = RateLimiter.layerFixed({ limit: 4, interval: "1 hour", maxWait: "1 second" })
      const results = yield* Effect.provide(
        Effect.forEach(Array.from({ length: 10 }), () => Effect.either(list), { concurrency: "unbounded" }),
        clientOf(server, { limiter })
      )
      yield* equal(results.filter(Either.isRight).length, 4)
      yield* equal(yield* statuses(server), [200, 200, 200, 200])
    })
  ),

  test(
    "a retry waits for Retry-After in seconds",
    Effect.gen(function*() {
      // The tenant allows one call a second: an earlier retry would get another 429.
      const server = yield* tenant({ buckets: { tenant: { burst: 1, refill: 1, per: "1 second" } } })
      const call = Retry.withPolicy(createUsersExport({}), { delay: 0, attempts: 2 })
      yield* Effect.provide(Effect.zipRight(call, call), clientOf(server, { limiter: RateLimiter.layerUnlimited }))
      yield* equal(yield* statuses(server), [200, 429, 200])
    })
  ),

  test(
    "Retry-After as a date counts from the response's Date header",
    Effect.gen(function*() {
      const server = yield* responses({
        status: 429,
        headers: { "date": "Tue, 01 Jan 2030 00:00:00 GMT", "retry-after": "Tue, 01 Jan 2030 00:01:30 GMT" },
        body: { statusCode: 429 }
      })
      const { retryAfter } = yield* Effect.provide(
        failsWith(Retry.withoutRetries(list), "RateLimited"),
        bareClient(server)
      )
      yield* equal(retryAfter, { _id: "Duration", _tag: "Millis", millis: 90_000 })
    })
  ),

  test(
    "a Retry-After beyond the remaining time fails at once, after one request",
    Effect.gen(function*() {
      const server = yield* responses({ status: 503, headers: { "retry-after": "3600" } })
      yield* Effect.provide(failsWith(list, "UnexpectedResponse", { status: 503 }), bareClient(server))
      yield* equal((yield* server.order<ReadonlyArray<RawRequest>>("requests")).length, 1)
    })
  ),

  test(
    "after a 500 only idempotent calls are retried",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* server.order("injectFault", { status: 500, times: 2, operation: "listActionVersions" })
      yield* server.order("injectFault", { status: 500, times: 2, operation: "createUsersExport" })
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* list
          yield* failsWith(createUsersExport({}), "UnexpectedResponse", { status: 500 })
        }).pipe(Retry.withPolicy({ delay: 1 })),
        clientOf(server)
      )
      yield* equal(yield* statuses(server), [500, 500, 200, 500])
    })
  ),

  test(
    "calls that wait for a permit can be interrupted, and nothing is sent",
    Effect.gen(function*() {
      const server = yield* responses({ body: { total: 0, per_page: 20, versions: [] } })
      const limiter = RateLimiter.layerFixed({ limit: 1, interval: "1 hour" })
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* list
          const waiting = yield* Effect.fork(many(20))
          yield* Effect.sleep("20 millis")
          yield* Fiber.interrupt(waiting)
        }),
        clientOf(server, { tokens: bearer, limiter })
      )
      yield* equal((yield* server.order<ReadonlyArray<RawRequest>>("requests")).length, 1)
    })
  )
]

/** Time-outs, interruption and closing, as the server sees them; and streams. */
import { Effect, Either, Exit, Fiber, Layer, Scope, Stream } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  Pagination,
  Redelivery,
  Retry
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import {
  bareClient,
  calls,
  clientOf,
  equal,
  failsWith,
  isTrue,
  open,
  type RawRequest,
  responses,
  tenant,
  test
} from "../kit.js"

const { actions: [action], streams: [stream] } = Tenant.demo

const list = listActionVersions({ actionId: action.id })

export const time = [
  ...(["response", "body"] as const).flatMap((within) => [
    test(
      `a time-out while waiting for the ${within} ends the call and closes its connection`,
      Effect.gen(function*() {
        const server = yield* open({ scene: "stalls", within })
        yield* Effect.provide(
          failsWith(Retry.withoutRetries(IdentityClient.withTimeout(list, "200 millis")), "TransportError", {
            outcome: "unknown",
            code: "TIMEOUT"
          }),
          bareClient(server)
        )
        yield* isTrue(yield* server.order<boolean>("closed"), "the server sees its connection closed")
      })
    ),
    test(
      `an interruption while waiting for the ${within} closes the connection`,
      Effect.gen(function*() {
        const server = yield* open({ scene: "stalls", within })
        const exit = yield* Effect.provide(
          Effect.gen(function*() {
            const call = yield* Effect.fork(list)
            yield* isTrue(yield* server.order<boolean>("arrived"), "the request arrives")
            return yield* Fiber.interrupt(call)
          }),
          bareClient(server)
        )
        yield* isTrue(Exit.isInterrupted(exit), "the call is interrupted")
        yield* isTrue(yield* server.order<boolean>("closed"), "the server sees its connection closed")
      })
    )
  ]),

  test(
    "an interruption during a token request ends the call, and the next call succeeds",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* server.order("injectFault", { operation: "token", delay: "500 millis", carriedOut: true })
      yield* Effect.provide(
        Effect.gen(function*() {
          const call = yield* Effect.fork(list)
          yield* Effect.sleep("20 millis")
          yield* Fiber.interrupt(call)
          yield* list
        }),
        clientOf(server)
      )
      yield* equal((yield* calls(server)).length, 1)
    })
  ),

  test(
    "a call that is not idempotent is sent once, also after a time-out",
    Effect.gen(function*() {
      const server = yield* open({ scene: "stalls", within: "response" })
      yield* Effect.provide(
        failsWith(IdentityClient.withTimeout(createUsersExport({}), "2 seconds"), "TransportError", {
          code: "TIMEOUT"
        }),
        bareClient(server)
      )
      yield* equal((yield* server.order<ReadonlyArray<RawRequest>>("requests")).length, 1)
    })
  ),

  test(
    "closing the client lets a running call finish, and fails later ones",
    Effect.gen(function*() {
      const server = yield* tenant()
      yield* server.order("injectFault", { operation: "deleteEventStream", delay: "200 millis", carriedOut: true })
      const scope = yield* Scope.make()
      const client = yield* Scope.extend(Layer.build(clientOf(server)), scope)
      const remove = Effect.provide(deleteEventStream({ id: stream.id }), client)
      const call = yield* Effect.fork(remove)
      yield* Effect.sleep("100 millis")
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(call)
      yield* failsWith(remove, "TransportError", { outcome: "not-sent", code: "CLOSED" })
    })
  )
]

/** Creates versions of an action, the newest first. */
const versions = (total: number) =>
  Array.from({ length: total }, (_, index) => ({ id: `v${index}`, number: total - index }))

const manyVersions = { seed: { actions: [{ id: action.id, versions: versions(45) }] } }

export const streams = [
  test(
    "Pagination.stream emits all items once, with a request per page",
    Effect.gen(function*() {
      const server = yield* tenant(manyVersions)
      const numbers = yield* Pagination.stream(listActionVersions, { actionId: action.id }).pipe(
        Stream.map(({ number }) => number),
        Stream.runCollect,
        Effect.provide(clientOf(server))
      )
      yield* equal([...numbers], versions(45).map(({ number }) => number))
      yield* equal((yield* calls(server)).length, 3)
    })
  ),

  test(
    "Pagination.stream sends one request if one item is taken",
    Effect.gen(function*() {
      const server = yield* tenant(manyVersions)
      yield* Pagination.stream(listActionVersions, { actionId: action.id }).pipe(
        Stream.take(1),
        Stream.runDrain,
        Effect.provide(clientOf(server))
      )
      yield* equal((yield* calls(server)).length, 1)
    })
  ),

  test(
    "Pagination.streamEither emits valid items and a failure for an invalid one",
    Effect.gen(function*() {
      const server = yield* responses({
        body: {
          total: 3,
          per_page: 20,
          versions: [{ id: "a", number: 3 }, { id: "b", number: "2" }, { id: "c", number: 1 }]
        }
      })
      const items = yield* Pagination.streamEither(listActionVersions, { actionId: action.id }).pipe(
        Stream.runCollect,
        Effect.provide(bareClient(server))
      )
      yield* equal([...items].map(Either.isRight), [true, false, true])
    })
  ),

  test(
    "Redelivery.run emits a result for each event, and sends each once",
    Effect.gen(function*() {
      const server = yield* tenant()
      const [first, second, queued] = stream.events
      const missing = "evt_0000000000000000000000"
      const results = yield* Redelivery.run([first.id, second.id, first.id, queued.id, missing, "evt_1"], {
        stream: stream.id
      }).pipe(Stream.runCollect, Effect.provide(clientOf(server)))
      const outcomes = Object.fromEntries([...results].map(({ id, outcome }) => [id, outcome]))
      yield* equal(outcomes, {
        [first.id]: "accepted",
        [second.id]: "accepted",
        [queued.id]: "notFailed",
        [missing]: "gone",
        evt_1: "invalid"
      })
      yield* equal([[...results].length, (yield* calls(server)).length], [6, 4])
    })
  )
]

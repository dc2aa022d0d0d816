/** Tests of the check for poolers, with a pool that hands its connections out late. */
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { requireSessions } from "../../src/cluster/sessions.js"
import * as VirtualTime from "../support/virtualTime.js"

/** A pool that counts the connections that it has handed out, and those that it got back. It hands no more out than it has. */
const poolThatTakes = (millis: number, size = 2) => {
  const counts = { handedOut: 0, back: 0 }
  const connection = { executeValues: () => Effect.succeed([[1]]), executeRaw: () => Effect.void }
  const reserve = Effect.gen(function*() {
    const taken = yield* Deferred.make<void>()
    const handOut = Effect.zipRight(Effect.sync(() => void counts.handedOut++), Deferred.succeed(taken, undefined))
    if (size-- > 0) yield* Effect.forkDaemon(Effect.delay(handOut, millis))
    yield* Deferred.await(taken) // it can be interrupted, as with the driver: then nobody gives the connection back
    yield* Effect.addFinalizer(() => Effect.sync(() => void counts.back++))
    return connection
  })
  // sound: the check uses nothing else
  return { counts, sql: { reserve } as unknown as SqlClient.SqlClient }
}

describe("the check of sessions", () => {
  for (const [millis, handedOut] of [[10, 2], [1500, 2], [3000, 1]] as const) {
    it.effect(`gives all connections back that it got after ${millis} ms`, () =>
      VirtualTime.run(
        Effect.gen(function*() {
          const { counts, sql } = poolThatTakes(millis)
          yield* Effect.ignore(Effect.provideService(requireSessions, SqlClient.SqlClient, sql))
          yield* Effect.sleep("10 seconds")
          assert.deepStrictEqual(counts, { handedOut, back: handedOut })
        }),
        { most: "1 minute" }
      ))
  }

  it.effect("gives its only connection back at the limit", () =>
    VirtualTime.run(
      Effect.gen(function*() {
        const { counts, sql } = poolThatTakes(10, 1)
        yield* Effect.provideService(requireSessions, SqlClient.SqlClient, sql)
        yield* Effect.sleep(1)
        assert.deepStrictEqual(counts, { handedOut: 1, back: 1 })
      }),
      { most: "1 minute" }
    ))
})

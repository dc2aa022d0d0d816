/** Reserves connections to PostgreSQL. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Reserves a connection until the scope ends, and may be interrupted: the driver loses a connection that its pool hands out after an
 * interruption, so a fiber of its own waits for it, and gives it back.
 */
export const reserve: Effect.Effect<Connection, SqlError, SqlClient.SqlClient | Scope.Scope> = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const reserved = yield* Deferred.make<Connection, SqlError>()
  const ended = yield* Effect.acquireRelease(
    Deferred.make<void>(),
    (ended) => Deferred.succeed(ended, undefined)
  )
  yield* Effect.forkDaemon(Effect.interruptible(Effect.scoped(
    Effect.zipRight(Effect.intoDeferred(sql.reserve, reserved), Deferred.await(ended))
  )))
  return yield* Deferred.await(reserved)
})

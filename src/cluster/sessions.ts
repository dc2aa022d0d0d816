/** Finds out whether each connection to PostgreSQL has a session of its own, as the locks of a cluster need it. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { JobStoreError } from "../jobs/model.js"
import { reserve } from "./reserve.js"
import { driverError } from "./sqlClient.js"

/** On a busy pooler, another client may take the session that would show it: it is tried so often. */
const rounds = 3

/** A pool without a second connection, or a database that does not respond in time, shows nothing. */
const timeLimit = "2 seconds"

/** PgBouncer in statement mode refuses transactions, and a session that another connection had knows nothing of the statements of this one. */
const isOfPooler = (error: SqlError): boolean => {
  const { message } = Object(driverError(error)) // sound: every value has an object, whose fields are unknown
  return /transaction blocks not allowed|prepared statement .* does not exist/.test(String(message))
}

/**
 * A pooler in transaction mode gives its session back after each statement. Then the second connection gets the session of the first, or the
 * first another one while the second is in a transaction.
 */
const areShared = Effect.gen(function*() {
  const reserved = yield* Effect.timeoutOption(Effect.all([reserve, reserve]), timeLimit)
  if (reserved._tag === "None") return false
  const [one, two] = reserved.value
  const sessionOf = (connection: typeof one) =>
    Effect.map(connection.executeValues("SELECT pg_backend_pid()", []), ([row]) => row?.[0])
  const transaction = Effect.acquireRelease(
    two.executeRaw("BEGIN", []),
    () => Effect.ignore(two.executeRaw("ROLLBACK", []))
  )
  const changes = Effect.scoped(Effect.gen(function*() {
    const first = yield* sessionOf(one)
    if (first !== (yield* sessionOf(one))) return true // a pooler that takes turns
    if (first === (yield* sessionOf(two))) return true // one that gives the session that was used last
    yield* transaction
    // In this order: of a pooler with one session, the first connection would wait for the end of the transaction.
    return first === (yield* sessionOf(two)) || first !== (yield* sessionOf(one))
  }))
  return yield* Effect.repeat(changes, { until: (shared) => shared, times: rounds - 1 })
}).pipe(
  Effect.scoped,
  Effect.catchAll((error) => Effect.succeed(isOfPooler(error))), // others occur again, where they are reported
  // In a fiber of its own: a statement that is interrupted would be cancelled by the number of its session, which a pooler makes up.
  Effect.forkDaemon,
  Effect.flatMap((fiber) => Effect.timeoutOption(Fiber.join(fiber), timeLimit)),
  Effect.map((shared) => shared._tag === "Some" && shared.value)
)

/** Fails if a pooler such as PgBouncer shares sessions among connections: locks would stay behind, and runners stall. */
export const requireSessions: Effect.Effect<void, JobStoreError, SqlClient.SqlClient> = Effect.flatMap(
  areShared,
  (shared) =>
    shared
      ? new JobStoreError({
        message:
          "a pooler between this process and the database is in transaction or statement mode, in which locks are lost; " +
          "set it to session mode (PgBouncer: pool_mode=session), or connect to PostgreSQL itself"
      })
      : Effect.void
)

/** The tables of `@effect/cluster`, made by one process at a time. */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { reserve } from "./reserve.js"
import { layerEngineTables } from "./sqlClient.js"

/** The key of the lock under which the tables are created. */
const lockKey = 7_313_042_552

/** Runs an effect while no other process runs one under the same lock. */
const withLock = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError, R | SqlClient.SqlClient> =>
  Effect.scoped(Effect.gen(function*() {
    const connection = yield* reserve
    yield* Effect.acquireRelease(
      connection.executeRaw("SELECT pg_advisory_lock($1)", [lockKey]),
      // If that fails the connection has ended, and the lock with it.
      () => Effect.ignore(connection.executeRaw("SELECT pg_advisory_unlock($1)", [lockKey]))
    )
    return yield* effect
  }))

/**
 * Creates the tables of the engine. Its own layers create them too, but without a lock: of two runners that start on an empty database at the
 * same time, one would end with an error of the database.
 */
export const createEngineTables: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Layer.build(layerEngineTables)
  .pipe(Effect.scoped, withLock, Effect.asVoid)

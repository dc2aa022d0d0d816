/** Statements in PostgreSQL: outside of the program's own transactions, with a time limit, and with errors that contain no secrets. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { disconnect } from "../internal/runtime/runner.js"
import { driverError, hadNoConnection, outsideOfTransactions } from "./sqlClient.js"

/** A statement failed. */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{
  readonly message: string
  /** The code of PostgreSQL or of the system, if there is one. */
  readonly code: string | undefined
  /** It may have been carried out all the same. */
  readonly mayHaveRun: boolean
}> {}

export interface Database {
  /** Runs one statement. */
  readonly query: <A extends object>(
    text: string,
    parameters: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<A>, DatabaseError>
}

/** PostgreSQL chose this statement to resolve a deadlock, or a conflict of isolated transactions: nothing of it was carried out. */
const rolledBack = ["40001", "40P01"]

/** Times between the attempts of such a statement, at random, so that two of them do not meet again. */
const pauses = Schedule.intersect(Schedule.jittered(Schedule.spaced("20 millis")), Schedule.recurs(20))

/** A statement without a response for so long has failed: its connection may be lost without notice. */
const timeLimit = "30 seconds"

/** The codes of PostgreSQL have five characters, those of the system are names such as `ECONNRESET`. */
const codeOf = (error: SqlError): string | undefined => {
  const cause = driverError(error)
  return Predicate.hasProperty(cause, "code") && typeof cause.code === "string" && /^[A-Z0-9_]{5,30}$/.test(cause.code)
    ? cause.code
    : undefined
}

/** Texts of PostgreSQL can contain values, and those of the connection its address: only the code is taken over. */
export const toDatabaseError = (error: SqlError): DatabaseError => {
  const code = codeOf(error)
  const isRefused = code?.length === 5 || hadNoConnection(error)
  return new DatabaseError({
    message: `the database cannot be used${code === undefined ? "" : ` (${code})`}`,
    code,
    mayHaveRun: !isRefused
  })
}

export const makeDatabase: Effect.Effect<Database, never, SqlClient.SqlClient> = Effect.map(
  SqlClient.SqlClient,
  (client) => {
    const sql = client.withoutTransforms()
    return {
      query: <A extends object>(text: string, parameters: ReadonlyArray<unknown>) =>
        Effect.suspend(() => sql.unsafe<A>(text, parameters)).pipe(
          Effect.mapError(toDatabaseError),
          outsideOfTransactions(client),
          disconnect,
          Effect.timeoutFail({
            duration: timeLimit,
            onTimeout: () =>
              new DatabaseError({ message: "the database does not respond", code: undefined, mayHaveRun: true })
          }),
          Effect.retry({ schedule: pauses, while: ({ code }) => code !== undefined && rolledBack.includes(code) })
        )
    }
  }
)

/** The database responds to a statement within 2 s. */
export const isResponding: Effect.Effect<boolean, never, SqlClient.SqlClient> = Effect.flatMap(
  makeDatabase,
  ({ query }) =>
    query("SELECT 1", []).pipe(
      disconnect,
      Effect.timeout("2 seconds"),
      Effect.match({ onFailure: () => false, onSuccess: () => true })
    )
)

/** The parts of Effect's SQL client that differ between its versions: transactions, parameters, causes of failures, and the tables of the engine. */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as SqlClient from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"

/** Detaches statements from a transaction of the caller: what a run has noted must stay, and others must see it. */
export const outsideOfTransactions =
  ({ transactionService }: SqlClient.SqlClient) => <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.updateContext(self, (context: Context.Context<never>) => Context.omit(transactionService)(context))

/** A parameter that is a list of texts, any of which may be missing. Of missing ones only, the client would not know the type. */
export const texts = (values: ReadonlyArray<string | undefined>): unknown =>
  Result.getOrThrow(PgTypes.array(values.map((value) => value ?? null), PgTypes.OID.text))

/** The error of the driver. */
export const driverError = ({ reason }: SqlError): unknown => reason.cause

/** There was no connection: the statement was not sent. */
export const hadNoConnection = ({ reason }: SqlError): boolean => reason.operation === "connect"

/** Creates the tables of the engine when it is built. */
export const layerEngineTables: Layer.Layer<never, SqlError, SqlClient.SqlClient> = Layer.mergeAll(
  SqlMessageStorage.layerMigrations({}),
  SqlRunnerStorage.layerMigrations({})
)

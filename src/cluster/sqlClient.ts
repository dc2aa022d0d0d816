/** The parts of Effect's SQL client that differ between its versions: transactions, parameters, causes of failures, and the tables of the engine. */
import * as ShardingConfig from "@effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "@effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "@effect/cluster/SqlRunnerStorage"
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Detaches statements from a transaction of the caller: what a run has noted must stay, and others must see it. */
export const outsideOfTransactions =
  (_client: SqlClient.SqlClient) => <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.mapInputContext(self, (context: Context.Context<never>) =>
      Context.omit(SqlClient.TransactionConnection)(
        context as Context.Context<SqlClient.TransactionConnection> // sound: to omit what is not there changes nothing
      ))

/** A parameter that is a list of texts and of missing ones. */
export const texts = (values: ReadonlyArray<string | undefined>): unknown => values.map((value) => value ?? null)

/** The error of the driver. */
export const driverError = ({ cause }: SqlError): unknown => cause

/** There was no connection: the statement was not sent. */
export const hadNoConnection = ({ message }: SqlError): boolean => message.startsWith("Failed to acquire connection")

/** Creates the tables of the engine when it is built. */
export const layerEngineTables: Layer.Layer<never, SqlError, SqlClient.SqlClient> = Layer.discard(
  Layer.mergeAll(SqlMessageStorage.layer, SqlRunnerStorage.layer)
).pipe(Layer.provide(ShardingConfig.layer()))

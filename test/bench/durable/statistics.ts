/** What PostgreSQL says about its work for a database. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"

/** Tables by what they are for. */
export const groups = ["jobs", "cluster", "shared"] as const

export type Group = typeof groups[number]

export interface Statistics {
  /** A statement outside of a transaction counts as one. */
  readonly transactions: number
  readonly rows: Readonly<Record<Group, number>>
  readonly bytes: Readonly<Record<Group, number>>
}

interface TableRow {
  readonly name: string
  readonly rows: number
  readonly bytes: number
}

const groupOf = (table: string): Group =>
  table.startsWith("cluster_") ? "cluster" : table === "identity_client_shared" ? "shared" : "jobs"

const sumBy = (tables: ReadonlyArray<TableRow>, valueOf: (table: TableRow) => number): Record<Group, number> => {
  const sums = { jobs: 0, cluster: 0, shared: 0 }
  for (const table of tables) sums[groupOf(table.name)] += valueOf(table)
  return sums
}

export const readStatistics = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  const [database] = yield* sql.unsafe<{ readonly transactions: number }>(
    `SELECT (xact_commit + xact_rollback)::double precision AS transactions
    FROM pg_stat_database WHERE datname = current_database()`
  )
  const tables = yield* sql.unsafe<TableRow>(
    `SELECT relname AS name, (n_tup_ins + n_tup_upd + n_tup_del)::double precision AS rows,
      pg_total_relation_size(relid)::double precision AS bytes FROM pg_stat_user_tables`
  )
  const statistics: Statistics = {
    transactions: database?.transactions ?? 0,
    rows: sumBy(tables, ({ rows }) => rows),
    bytes: sumBy(tables, ({ bytes }) => bytes)
  }
  return statistics
}).pipe(Effect.orDie)

const minus = (after: Readonly<Record<Group, number>>, before: Readonly<Record<Group, number>>) => ({
  jobs: after.jobs - before.jobs,
  cluster: after.cluster - before.cluster,
  shared: after.shared - before.shared
})

export const difference = (after: Statistics, before: Statistics): Statistics => ({
  transactions: after.transactions - before.transactions,
  rows: minus(after.rows, before.rows),
  bytes: minus(after.bytes, before.bytes)
})

/** Locks of connections. */
const advisoryLocks = `SELECT count(*)::integer AS shards FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
  WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted GROUP BY l.pid`

const locksOfTable = "SELECT count(*)::integer AS shards FROM cluster_locks GROUP BY address"

/** Waits until the runners have divided the shards among themselves. */
export const awaitBalance = (runners: number, least: number, locksInTable: boolean) =>
  Effect.flatMap(
    PgClient.PgClient,
    (sql) => sql.unsafe<{ readonly shards: number }>(locksInTable ? locksOfTable : advisoryLocks)
  ).pipe(
    Effect.delay("200 millis"),
    Effect.repeat({
      until: (rows) => rows.filter(({ shards }) => shards >= least).length === runners
    }),
    Effect.timeoutFail({ duration: "30 seconds", onTimeout: () => "the runners have not divided the shards" }),
    Effect.mapError(String)
  )

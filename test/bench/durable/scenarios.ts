/** What happens to a cluster while it works. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { PostgresServer } from "../../../examples/support/postgresServer.js"
import type { Runner } from "./runners.js"
import { concurrency, type Work } from "./settings.js"

/** How often and how long it happens. */
export interface Pace {
  readonly firstMs: number
  readonly killEveryMs: number
  readonly kills: number
  readonly pauseMs: number
  readonly stopMs: number
}

export interface Cluster {
  readonly runners: ReadonlyArray<Runner>
  readonly server: PostgresServer
  readonly work: Work
}

export interface Scenario {
  readonly name: string
  /** Runs beside the jobs. Returns the number of events that may be unknown because of it. */
  readonly disturb: (cluster: Cluster, pace: Pace) => Effect.Effect<number>
}

const nth = ({ runners }: Cluster, index: number): Effect.Effect<Runner> =>
  Effect.orDie(Effect.fromNullable(runners[index % runners.length]))

const sum = (counts: ReadonlyArray<number>): number => counts.reduce((total, count) => total + count, 0)

const undisturbed: Scenario = { name: "undisturbed", disturb: () => Effect.succeed(0) }

const killed: Scenario = {
  name: "kill -9",
  disturb: (cluster, { killEveryMs, kills }) =>
    Effect.forEach(
      Array.from({ length: kills }, (_, index) => index),
      (index) => Effect.delay(Effect.flatMap(nth(cluster, index), ({ kill }) => kill), Duration.millis(killEveryMs))
    ).pipe(Effect.map(sum))
}

const restarted: Scenario = {
  name: "SIGTERM",
  disturb: ({ runners }, { firstMs }) =>
    Effect.forEach(runners, ({ restart }) => Effect.delay(restart, Duration.millis(firstMs)), { discard: true }).pipe(
      Effect.as(0)
    )
}

const withoutDatabase: Scenario = {
  name: "PostgreSQL stopped",
  disturb: ({ server, work }, { firstMs, stopMs }) =>
    Effect.delay(server.stop, Duration.millis(firstMs)).pipe(
      Effect.zipRight(Effect.delay(server.start, Duration.millis(stopMs))),
      Effect.as(work.tenants * concurrency)
    )
}

const paused: Scenario = {
  name: "SIGSTOP",
  disturb: (cluster, { firstMs, pauseMs }) =>
    nth(cluster, 0).pipe(Effect.delay(Duration.millis(firstMs)), Effect.flatMap(({ pause }) => pause(pauseMs)))
}

export const scenarios: ReadonlyArray<Scenario> = [undisturbed, killed, restarted, withoutDatabase, paused]

/** The name of the row of one process with a journal in files. */
export const single = "one process, file journal"

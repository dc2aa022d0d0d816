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

interface Cluster {
  readonly runners: ReadonlyArray<Runner>
  readonly server: PostgresServer
  readonly work: Work
}

export interface Scenario {
  readonly name: string
  readonly locksInTable?: boolean
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

/** Stops the runner with the most jobs. */
const pauseBusiest: Scenario["disturb"] = ({ runners }, { firstMs, pauseMs }) =>
  Effect.gen(function*() {
    yield* Effect.sleep(firstMs)
    const counted = yield* Effect.forEach(
      runners,
      ({ inFlight, pause }) => Effect.map(inFlight, (count) => ({ count, pause }))
    )
    const busiest = counted.reduce((most, other) => other.count > most.count ? other : most)
    return yield* busiest.pause(pauseMs)
  })

/** Its connection is still there, and keeps the shards for it. */
const paused: Scenario = { name: "SIGSTOP", disturb: pauseBusiest }

/** Its locks in the table expire: another runner has its jobs when it goes on. */
const overtaken: Scenario = { name: "SIGSTOP, locks in a table", locksInTable: true, disturb: pauseBusiest }

export const scenarios: ReadonlyArray<Scenario> = [undisturbed, killed, restarted, withoutDatabase, paused, overtaken]

/** The name of the row of one process with a journal in files. */
export const single = "one process, file journal"

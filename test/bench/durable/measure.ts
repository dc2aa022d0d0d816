/** Runs one scenario with a service, a database and runners in separate processes. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import { layerSql, postgresServer } from "../../../examples/support/postgresServer.js"
import * as Jobs from "../../../src/Jobs.js"
import { check, type Outcomes } from "./check.js"
import { layerCluster } from "./cluster.js"
import type { Result } from "./result.js"
import { makeRunner, type Start } from "./runners.js"
import type { Pace, Scenario } from "./scenarios.js"
import type { Origins, Seen } from "./service.js"
import { idealMs, idsOf, stream, tenantsOf, type Work } from "./settings.js"
import { awaitBalance, difference, readStatistics } from "./statistics.js"

const runnerCount = 3

export const startService = (start: Start, work: Work) =>
  start<Origins, Record<string, never>, ReadonlyArray<Seen>>({
    program: "durable/service",
    argument: JSON.stringify(work)
  })

/** While the database is stopped, the parent tries again. */
const patiently = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, string> =>
  effect.pipe(
    Effect.retry(Schedule.intersect(Schedule.spaced("500 millis"), Schedule.recurs(60))),
    Effect.mapError((error) => `the parent failed: ${JSON.stringify(error)}`)
  )

const submitAll = ({ submit }: Context.Tag.Service<Jobs.Jobs>, work: Work) =>
  Effect.forEach(
    tenantsOf(work),
    (tenant) => patiently(submit(Jobs.redelivery({ tenant, key: "night", stream, events: idsOf(work) }))),
    { concurrency: 5 }
  )

const outcomesOf = ({ results }: Context.Tag.Service<Jobs.Jobs>, id: string): Effect.Effect<Outcomes, string> =>
  patiently(Effect.map(
    Stream.runCollect(results(id)),
    (all) => Array.from(all, ({ error, id, outcome }) => [id, outcome, error?.message ?? "was being sent"] as const)
  ))

export const measure = (
  start: Start,
  scenario: Scenario,
  work: Work,
  pace: Pace
): Effect.Effect<Result, string> =>
  Effect.gen(function*() {
    const { disturb, locksInTable = false, name } = scenario
    const service = yield* startService(start, work)
    const server = yield* postgresServer
    const database = yield* server.database
    const context = yield* Layer.build(
      layerCluster({ locksInTable }).pipe(
        Layer.provide(Jobs.layerTenants(() => Layer.fail("this process runs no jobs"))),
        Layer.provideMerge(layerSql(server, database)),
        Layer.provide(Logger.minimumLogLevel(LogLevel.None)),
        Layer.orDie
      )
    )
    const jobs = Context.get(context, Jobs.Jobs)
    const settings = {
      postgres: server.port,
      database,
      origins: service.first.origins,
      encryptionKey: randomBytes(32).toString("base64"),
      locksInTable,
      limitMs: work.limitMs
    }
    const runners = yield* Effect.forEach(
      Array.from({ length: runnerCount }),
      () => makeRunner(start, settings)
    )
    yield* Effect.forEach(runners, ({ awaitReady }) => awaitReady)
    yield* Effect.provide(awaitBalance(runnerCount, 5, locksInTable), context)
    const before = yield* Effect.provide(readStatistics, context)

    const startedAt = performance.now()
    const disturbance = yield* Effect.fork(disturb({ runners, server, work }, pace))
    const ids = yield* submitAll(jobs, work)
    const ends = yield* Effect.forEach(ids, (id) => patiently(jobs.awaitEnd(id)), { concurrency: "unbounded" })
    const millis = performance.now() - startedAt

    const mayBeUnknown = yield* Fiber.join(disturbance)
    yield* Effect.sleep("1 second") // a process that goes on could send something now
    const outcomes = yield* Effect.forEach(ids, (id) => outcomesOf(jobs, id))
    const seen = yield* service.ask({})
    const after = yield* Effect.provide(readStatistics, context)
    const result: Result = {
      ...check(work, seen, outcomes),
      scenario: name,
      events: work.tenants * work.eventsEach,
      mayBeUnknown,
      unfinished: ends.flatMap(({ error, state }) => state === "done" ? [] : [error?.message ?? state]),
      crashes: runners.reduce((sum, { crashes }) => sum + crashes(), 0),
      timeRatio: millis / idealMs(work),
      database: difference(after, before)
    }
    return result
  }).pipe(
    Effect.scoped,
    Effect.timeoutFail({
      duration: Duration.millis(work.limitMs),
      onTimeout: () => `${scenario.name}: the jobs have not ended in time`
    })
  )

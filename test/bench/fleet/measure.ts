/** Runs one scenario with a store, a tenant and a fleet in separate processes. */
import * as Effect from "effect/Effect"
import { Redis } from "ioredis"
import { randomBytes } from "node:crypto"
import { redisServer } from "../../support/redisServer.js"
import type { Job, Ready, Report } from "../goodput/client.js"
import type { bundle } from "../processes.js"
import type { Result } from "./result.js"
import { limitOf, processes, type Scenario } from "./scenarios.js"
import type { Origin, Question, Seen } from "./tenant.js"

type Start = Effect.Effect.Success<ReturnType<typeof bundle<"fleet/member" | "fleet/tenant" | "goodput/clock">>>

/** The work of a run. */
export interface Work {
  readonly callsEach: number
  /** The refill rate, relative to production. */
  readonly speed: number
  /** Every process gives up after this time. */
  readonly limitMs: number
}

/** Counts the scripts that a store has run. */
const tripsOf = (url: string) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Redis(url)),
    (redis) => Effect.promise(() => redis.info("commandstats")),
    (redis) => Effect.sync(() => redis.disconnect())
  ).pipe(
    Effect.map((stats) =>
      [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, calls]) => sum + Number(calls), 0)
    )
  )

export const measure = (start: Start, scenario: Scenario, { callsEach, limitMs, speed }: Work) =>
  Effect.gen(function*() {
    const { event, operations, shared } = scenario
    const limit = limitOf(processes * callsEach, speed)
    const store = yield* redisServer
    const tenant = yield* start<Origin, Question, Seen>({ program: "fleet/tenant", argument: JSON.stringify(limit) })
    const { origin } = tenant.first
    const key = randomBytes(32).toString("base64")
    const member = (shiftMs: number) =>
      start<Ready, Job, Report>({
        program: "fleet/member",
        preload: "goodput/clock",
        env: {
          CLOCK_SHIFT_MS: String(shiftMs),
          OPERATIONS: String(operations),
          ...(shared && { FLEET_STORE: store.url, FLEET_KEY: key })
        }
      })
    const job = (first: number, end: number): Job => ({ origin, bucket: limit.bucket, first, end, limitMs })
    const members = yield* Effect.forEach(
      Array.from({ length: processes }, (_, nth) => nth),
      (nth) => member(event === "clock off" && nth === 0 ? 60_000 : 0),
      { concurrency: 2 }
    )

    // One more process requests the token and is killed before it gets it.
    const killed = event === "holder killed" ? yield* member(0) : undefined
    if (killed !== undefined) {
      yield* tenant.ask({ slowTokenMs: 20_000 })
      yield* Effect.forkScoped(Effect.ignore(killed.ask(job(0, 1))))
      yield* tenant.ask({}).pipe(
        Effect.delay("10 millis"),
        Effect.repeat({ until: ({ tokenRequests }) => tokenRequests > 0 })
      )
      yield* Effect.forkScoped(Effect.delay(killed.kill, "100 millis"))
    }
    if (event === "store stopped") {
      yield* Effect.forkScoped(
        store.stop.pipe(Effect.delay("3 seconds"), Effect.zipRight(Effect.delay(store.start, "3 seconds")))
      )
    }

    const reports = yield* Effect.forEach(
      members,
      ({ ask }, nth) => ask(job(nth * callsEach, (nth + 1) * callsEach)),
      { concurrency: "unbounded" }
    )
    const seen = yield* tenant.ask({})
    const failures: Record<string, number> = {}
    for (const [kind, times] of reports.flatMap((report) => Object.entries(report.failures))) {
      failures[kind] = (failures[kind] ?? 0) + times
    }
    const result: Result = {
      ...scenario,
      limit,
      failures,
      succeeded: reports.reduce((sum, { succeeded }) => sum + succeeded, 0),
      millis: Math.max(...reports.map(({ millis }) => millis)),
      heldUpMs: Math.max(...reports.map(({ heldUpMs }) => heldUpMs)),
      requests: seen.requests,
      refused: seen.refused,
      tokens: seen.tokensIssued,
      cut: seen.tokenRequests - seen.tokensIssued,
      trips: shared && event !== "store stopped" ? yield* tripsOf(store.url) : undefined
    }
    return result
  }).pipe(Effect.scoped)

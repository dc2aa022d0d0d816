/** The time of a start while other tenants' calls wait. */
import * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Adaptive from "../../../src/internal/limiter/adaptive.js"
import * as Queue from "../../../src/internal/limiter/queue.js"
import * as Permits from "../../support/permits.js"

const starts = 200

const pause = { status: 429, headers: Headers.fromInput({ "retry-after": "600" }) }

/** Measures the milliseconds of a start, from the arrival of the call to its end, while a call waits for each of some other tenants. */
export const startMillis = (tenants: number, rounds: number): Effect.Effect<ReadonlyArray<number>> =>
  Effect.gen(function*() {
    const queue = yield* Queue.make(Adaptive.make(), {})
    const callOf = (tenant: string) => ({ tenant, operation: "listActions" })
    for (let nth = 0; nth < tenants; nth++) {
      const call = callOf(`tenant ${nth}`)
      yield* Effect.flatMap(Permits.start(queue, call), ({ settle }) => settle(pause))
      yield* Effect.forkScoped(Permits.start(queue, call))
    }
    const start = Effect.flatMap(Permits.start(queue, callOf("another tenant")), ({ settle }) => settle(undefined))
    const times: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      yield* Effect.repeatN(start, starts - 1)
      times.push((performance.now() - begin) / starts)
    }
    return times
  }).pipe(Effect.scoped, Effect.orDie, Logger.withMinimumLogLevel(LogLevel.None)) // each tenant would warn of its wait

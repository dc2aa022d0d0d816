/**
 * `npm run bench:seeds -- [limiter [seeds]]`: what a limiter makes of twenty servers with three buckets each, in virtual
 * time. The limiter is `layer` (default), `fixed` (told the bucket in advance), `knowing` (told how the server counts: what
 * can be reached) or `unlimited`; the seeds are `7` or `1-20`.
 */
import { Effect, type Layer } from "effect"
import { RateLimiter } from "../../src/index.js"
import { type BucketServer, type Profile, profileOf } from "../support/bucketServer.js"
import { isGood, measure, scenarios, seeds } from "../support/goodput.js"
import * as KnowingLimiter from "../support/knowingLimiter.js"

const limiters: Readonly<
  Record<string, (server: BucketServer) => Layer.Layer<RateLimiter.RateLimiter, unknown>>
> = {
  layer: () => RateLimiter.layer,
  fixed: ({ size: { burst, interval } }) => RateLimiter.layerFixed({ limit: burst, interval: burst * interval }),
  knowing: KnowingLimiter.layer,
  unlimited: () => RateLimiter.layerUnlimited
}

const [name = "layer", range = `${seeds.at(0)}-${seeds.at(-1)}`] = process.argv.slice(2)

const chosen = (): ReadonlyArray<number> => {
  const [first = NaN, last = first] = range.split("-").map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

const describe = ({ ahead, kind, reset, retryAfter, toldWhenRefused }: Profile): string =>
  [
    kind.padEnd(8),
    reset.padEnd(6),
    (toldWhenRefused ? "told" : "-").padEnd(5),
    `retry-after ${retryAfter}`.padEnd(20),
    `${ahead > 0 ? "+" : ""}${ahead} ms`.padStart(10)
  ].join("")

const program = Effect.gen(function*() {
  const limiter = limiters[name]
  if (limiter === undefined) return yield* Effect.fail(`no limiter is called ${name}`)
  let bad = 0
  let worst = Infinity
  const began = Date.now()
  console.log(`seed  bucket      ${"server".padEnd(51)}goodput   took ms  requests  429s  failed`)
  for (const seed of chosen()) {
    for (const scenario of scenarios) {
      const result = yield* measure(scenario, seed, limiter)
      const good = isGood(result)
      if (!good) bad++
      worst = Math.min(worst, result.goodput)
      console.log(
        String(seed).padStart(4),
        ` ${scenario.name.padEnd(11)}`,
        describe(profileOf(seed)),
        result.goodput.toFixed(3).padStart(8),
        String(result.elapsed).padStart(9),
        String(result.requests).padStart(9),
        String(result.refused).padStart(5),
        String(result.failed).padStart(7),
        good ? "" : " *"
      )
    }
  }
  console.log(
    `\n${bad} out of bounds (*), the least goodput is ${worst.toFixed(3)}; ${Date.now() - began} ms of real time`
  )
  if (bad > 0) process.exitCode = 1
})

Effect.runPromise(program).catch((error: unknown) => {
  console.error(String(error))
  process.exitCode = 1
})

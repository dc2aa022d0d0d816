/**
 * `npm run bench:seeds -- [limiter [seeds]] [--clients 2] [--set marginAlone=0.5]`: the goodput of a limiter against twenty
 * servers with three buckets each, in virtual time. The limiter is `layer` (default), `fixed` (it knows the bucket), `knowing`
 * (it knows how the server counts: the best that can be reached) or `unlimited`; the seeds are `7` or `1-20`. `--clients` makes
 * several clients share each bucket. `--set` gives a constant of `src/internal/limiter/estimator/constants.ts` another value.
 */
import { Effect, type Layer } from "effect"
import { parseArgs } from "node:util"
import { RateLimiter } from "../../src/index.js"
import { constants } from "../../src/internal/limiter/estimator/constants.js"
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

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { clients: { type: "string", default: "1" }, set: { type: "string", multiple: true, default: [] } }
})

const [name = "layer", range = `${seeds.at(0)}-${seeds.at(-1)}`] = positionals

/** Changes a constant of the estimator; fails unless the setting is `name=number` with the name of one. */
const change = (setting: string): Effect.Effect<void, string> => {
  const [constant = "", value = ""] = setting.split("=")
  const number = value.trim() === "" ? NaN : Number(value)
  if (!Object.hasOwn(constants, constant)) return Effect.fail(`the estimator has no constant ${constant}`)
  if (!Number.isFinite(number)) return Effect.fail(`${constant}: expected a number`)
  return Effect.sync(() => void Object.assign(constants, { [constant]: number }))
}

const chosen = (): ReadonlyArray<number> => {
  const [first = NaN, last = first] = range.split("-").map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

const describe = ({ ahead, kind, reset, retryAfter, hasHeadersWhenRefused }: Profile): string =>
  [
    kind.padEnd(8),
    reset.padEnd(6),
    (hasHeadersWhenRefused ? "429 headers" : "-").padEnd(12),
    `retry-after ${retryAfter}`.padEnd(20),
    `${ahead > 0 ? "+" : ""}${ahead} ms`.padStart(10)
  ].join("")

const program = Effect.gen(function*() {
  const limiter = limiters[name]
  if (limiter === undefined) return yield* Effect.fail(`no limiter is called ${name}`)
  yield* Effect.forEach(options.set, change)
  let bad = 0
  let worst = Infinity
  const began = Date.now()
  console.log(`seed  bucket      ${"server".padEnd(51)}goodput   took ms  requests  429s  failed`)
  for (const seed of chosen()) {
    for (const scenario of scenarios) {
      const result = yield* measure(scenario, seed, limiter, Number(options.clients))
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

/** The properties that fuzzing checks, with the number of runs of each and reports of failures. */
import { Effect, FastCheck, type Scope } from "effect"
import * as InProcess from "./inProcess.js"
import { requests, shown as shownRequest } from "./requests.js"
import { cases, shown as shownCase } from "./responses.js"
import * as Tenant from "./tenant.js"
import * as Wire from "./wire.js"

/** The seed and path that reproduce a failure. */
interface Seed {
  readonly seed?: number | undefined
  readonly path?: string | undefined
}

interface Failure {
  readonly seed: number
  readonly path: string
  /** Describes the smallest case that fails. */
  readonly example: string
  readonly why: string
}

interface Property {
  readonly name: string
  /** The share of all runs that this property gets. */
  readonly share: number
  /** Checks it with this number of runs. Returns `undefined` if it holds. */
  readonly check: (runs: number, seed: Seed) => Effect.Effect<Failure | undefined, never, Scope.Scope>
}

/** A run that takes longer than this working time of the process, in seconds, counts as endless. */
const most = 60

/** Runs properties one after the other and watches for endless runs. Time in which the process was suspended does not count. */
const watchdog = () => {
  let ticks = 0
  let expire = () => {}
  const timer = setInterval(() => void (++ticks >= most && expire()), 1000)
  return {
    guard: (run: () => Promise<void>) =>
      new Promise<void>((resolve, reject) => {
        ticks = 0
        expire = () => reject(new Error("it does not end"))
        run().then(resolve, reject)
      }),
    end: () => clearInterval(timer)
  }
}

const property = <Given extends [unknown, ...ReadonlyArray<unknown>]>(
  name: string,
  share: number,
  arbitrary: FastCheck.Arbitrary<Given>,
  shown: (...given: Given) => string,
  law: Effect.Effect<(...given: Given) => Promise<void>, never, Scope.Scope>
): Property => ({
  name,
  share,
  check: (runs, { path, seed }) =>
    Effect.flatMap(law, (law) =>
      Effect.promise(async () => {
        const { end, guard } = watchdog()
        const found = await FastCheck.check(
          FastCheck.asyncProperty(arbitrary, (given) => guard(() => law(...given))),
          {
            numRuns: Math.max(1, Math.round(runs * share)),
            ...(seed !== undefined && { seed }),
            ...(path !== undefined && { path })
          }
        )
        end()
        if (!found.failed) return undefined
        const [example] = found.counterexample ?? []
        return {
          seed: found.seed,
          path: found.counterexamplePath ?? "",
          example: example === undefined ? "" : shown(...example),
          why: found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance)
        }
      }))
})

export const properties: ReadonlyArray<Property> = [
  property(
    "responses",
    1,
    FastCheck.tuple(cases, InProcess.hows),
    (one, how) => `${JSON.stringify(how)}\n${shownCase(one)}`,
    Effect.succeed(InProcess.law)
  ),
  property(
    "responses-on-sockets",
    0.05,
    FastCheck.tuple(cases, Wire.responseManners, FastCheck.constantFrom(...Wire.platformNames)),
    (one, { junk, ...manner }, platform) =>
      `${platform} ${JSON.stringify({ ...manner, junk: junk?.slice(0, 100) })}\n${shownCase(one)}`,
    Effect.map(Wire.overClients, ({ law }) => law)
  ),
  property("requests", 0.2, FastCheck.tuple(requests), shownRequest, Effect.succeed(Tenant.law)),
  property(
    "requests-on-sockets",
    0.05,
    FastCheck.tuple(requests, Wire.requestManners),
    (sent, { junk, ...manner }) => `${JSON.stringify({ ...manner, junk: junk?.slice(0, 100) })}\n${shownRequest(sent)}`,
    Effect.map(Wire.asking, ({ law }) => law)
  )
]

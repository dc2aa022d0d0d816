/** What is held to be true of anything that comes over a wire, each with how often it is tried and how a failure is told. */
import { Effect, FastCheck, type Scope } from "effect"
import { cases, shown as shownCase } from "./answers.js"
import * as InProcess from "./inProcess.js"
import { requests, shown as shownRequest } from "./requests.js"
import * as Tenant from "./tenant.js"
import * as Wire from "./wire.js"

/** What a failure is found again by. */
export interface Seed {
  readonly seed?: number | undefined
  readonly path?: string | undefined
}

export interface Failure {
  readonly seed: number
  readonly path: string
  /** The smallest case that fails, in words. */
  readonly example: string
  readonly why: string
}

interface Property {
  readonly name: string
  /** Of all that is asked for, so many runs are made. */
  readonly share: number
  /** Tries it so often; none: it holds. */
  readonly check: (runs: number, seed: Seed) => Effect.Effect<Failure | undefined, never, Scope.Scope>
}

/** How long a run may take in milliseconds before it is taken for one that does not end. */
const most = 60_000

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
        const found = await FastCheck.check(
          FastCheck.asyncProperty(arbitrary, (given) => law(...given)),
          {
            numRuns: Math.max(1, Math.round(runs * share)),
            timeout: most,
            ...(seed !== undefined && { seed }),
            ...(path !== undefined && { path })
          }
        )
        if (!found.failed) return undefined
        const [example] = found.counterexample ?? []
        return {
          seed: found.seed,
          path: found.counterexamplePath ?? "",
          example: example === undefined ? "" : shown(...example),
          why: found.errorInstance instanceof Error ? found.errorInstance.message : "it does not end"
        }
      }))
})

export const properties: ReadonlyArray<Property> = [
  property(
    "answers",
    1,
    FastCheck.tuple(cases, InProcess.hows),
    (one, how) => `${JSON.stringify(how)}\n${shownCase(one)}`,
    Effect.succeed(InProcess.law)
  ),
  property(
    "answers-on-sockets",
    0.05,
    FastCheck.tuple(cases, Wire.answerManners, FastCheck.constantFrom(...Wire.platformNames)),
    (one, { junk, ...manner }, platform) =>
      `${platform} ${JSON.stringify({ ...manner, junk: junk?.slice(0, 100) })}\n${shownCase(one)}`,
    Effect.map(Wire.answering, ({ law }) => law)
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

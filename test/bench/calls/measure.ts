/** Measures clients alternately, in rounds, so that all of them see the same load of the machine. */
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { effect4 } from "../../../.ci/line.js"
import { bundle } from "../processes.js"
import type { Job, Ready, Report } from "./client.js"
import { type Client, type Program, programs, type Scenario } from "./scenarios.js"
import type { Listening } from "./server.js"

export interface Options {
  readonly rounds: number
  /** The time that each client calls in each round. */
  readonly millis: number
  /** The time that each client calls before the first scenario, so that its code is compiled. */
  readonly startMillis: number
  /** The time that each client calls before each scenario. */
  readonly warmUpMillis: number
  /** The Node that runs all programs. */
  readonly execPath?: string
}

/** The reports of a client in a scenario, by round. */
export interface Result extends Scenario {
  readonly client: string
  readonly reports: ReadonlyArray<Report>
}

/** The results of all clients in all scenarios. */
export const measure = (
  clients: ReadonlyArray<Client>,
  scenarios: ReadonlyArray<Scenario>,
  { execPath = process.execPath, millis, rounds, startMillis, warmUpMillis }: Options
) =>
  Effect.gen(function*() {
    const start = yield* bundle(import.meta.dirname, programs)
    const startOnEffect4 = clients.some(({ line }) => line === effect4)
      ? yield* bundle<Program>(join(effect4.root, "test/bench/calls"), ["undici", "ours"])
      : start
    const { first: { origin } } = yield* start<Listening, Job, Report>({ program: "server", execPath })
    const running = yield* Effect.forEach(clients, ({ env = {}, line, name, program }) =>
      Effect.map(
        (line === effect4 ? startOnEffect4 : start)<Ready, Job, Report>({ program, argument: origin, env, execPath }),
        ({ ask }) => ({ name, ask })
      ))
    const warmUp = (scenario: Scenario, millis: number) =>
      Effect.forEach(running, ({ ask }) => ask({ ...scenario, millis }))
    yield* warmUp({ payload: "small", concurrency: 50 }, startMillis)
    return yield* Effect.forEach(scenarios, (scenario) =>
      Effect.gen(function*() {
        yield* warmUp(scenario, warmUpMillis)
        const measurements = yield* Effect.forEach(Array.from({ length: rounds }), (_, round) => {
          // Alternating the order evens out the influence of the client before.
          const order = round % 2 === 0 ? running : running.toReversed()
          return Effect.forEach(
            order,
            ({ ask, name }) => Effect.map(ask({ ...scenario, millis }), (report) => ({ name, report }))
          )
        })
        return running.map(({ name }): Result => ({
          ...scenario,
          client: name,
          reports: measurements.flat().flatMap((measurement) => measurement.name === name ? [measurement.report] : [])
        }))
      }))
  }).pipe(Effect.map((results) => results.flat()), Effect.scoped)

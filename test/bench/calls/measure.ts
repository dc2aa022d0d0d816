/** Measures clients in turn, in rounds: what else the machine does meanwhile hits all of them alike. */
import * as Effect from "effect/Effect"
import { bundle } from "../processes.js"
import type { Job, Ready, Report } from "./client.js"
import { type Client, programs, type Scenario } from "./scenarios.js"
import type { Listening } from "./server.js"

export interface Options {
  readonly rounds: number
  /** How long each client calls in each round. */
  readonly millis: number
  /** How long it does so before the first scenario, until its code is compiled; and before each of them. */
  readonly startMillis: number
  readonly warmUpMillis: number
}

/** What a client came to in a scenario, round by round. */
export interface Result extends Scenario {
  readonly client: string
  readonly reports: ReadonlyArray<Report>
}

/** The results of all clients in all scenarios. */
export const measure = (
  clients: ReadonlyArray<Client>,
  scenarios: ReadonlyArray<Scenario>,
  { millis, rounds, startMillis, warmUpMillis }: Options
) =>
  Effect.gen(function*() {
    const start = yield* bundle(import.meta.dirname, programs)
    const { first: { origin } } = yield* start<Listening, Job, Report>({ program: "server" })
    const running = yield* Effect.forEach(clients, ({ env = {}, name, program }) =>
      Effect.map(
        start<Ready, Job, Report>({ program, argument: origin, env }),
        ({ ask }) => ({ name, ask })
      ))
    const warmUp = (scenario: Scenario, millis: number) =>
      Effect.forEach(running, ({ ask }) => ask({ ...scenario, millis }))
    yield* warmUp({ payload: "small", concurrency: 50 }, startMillis)
    return yield* Effect.forEach(scenarios, (scenario) =>
      Effect.gen(function*() {
        yield* warmUp(scenario, warmUpMillis)
        const turns = yield* Effect.forEach(Array.from({ length: rounds }), (_, round) => {
          // Who comes after whom changes from round to round.
          const order = round % 2 === 0 ? running : running.toReversed()
          return Effect.forEach(
            order,
            ({ ask, name }) => Effect.map(ask({ ...scenario, millis }), (report) => ({ name, report }))
          )
        })
        return running.map(({ name }): Result => ({
          ...scenario,
          client: name,
          reports: turns.flat().flatMap((turn) => turn.name === name ? [turn.report] : [])
        }))
      }))
  }).pipe(Effect.map((results) => results.flat()), Effect.scoped)

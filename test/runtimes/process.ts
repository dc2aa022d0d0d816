/** Runs the suite as a process with the arguments STAGE and RUNTIME; writes a line of JSON for each test. */
import type { HttpClient } from "@effect/platform"
import { Console, Effect, type Layer } from "effect"
import { run, testsOf } from "./runner.js"

/** Number of tests that run at once. */
const concurrency = 12

/** Runs all tests over a transport. */
export const main = (transport: Layer.Layer<HttpClient.HttpClient>): void => {
  const [stage = "", runtime = ""] = process.argv.slice(2)
  const all = Effect.flatMap(
    Effect.promise(() => testsOf(stage)),
    Effect.forEach(
      (test) =>
        Effect.flatMap(run(test, { stage, runtime, transport }), (result) => Console.log(JSON.stringify(result))),
      { concurrency, discard: true }
    )
  )
  void Effect.runPromise(all)
}

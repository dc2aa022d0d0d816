/** Runs the tests on any runtime. */
import type { HttpClient } from "@effect/platform"
import { Cause, Console, Effect, Exit, Layer, Logger } from "effect"
import { Stage, type Test } from "./kit.js"
import type { Matrix } from "./scenes.js"
import { suite } from "./suite.js"

/** Result of a test; `error` is present if it failed. */
export interface Result {
  readonly name: string
  readonly error?: string
}

/** Stage, runtime and transport that the tests run with. */
export interface Place {
  readonly stage: string
  readonly runtime: string
  readonly transport: Layer.Layer<HttpClient.HttpClient>
}

/** Returns the tests for the stage's fault matrix. */
export const testsOf = async (stage: string): Promise<ReadonlyArray<Test>> => {
  const response = await fetch(`${stage}/matrix`)
  return suite((await response.json()) as Matrix) // sound: the stage is ours
}

/** Removes the library's log lines from the output. */
const quiet = Logger.remove(Logger.defaultLogger)

/** Runs a test with its own scope and transport, for at most a minute. */
export const run = ({ name, run }: Test, { runtime, stage, transport }: Place): Effect.Effect<Result> =>
  run.pipe(
    Effect.scoped,
    Effect.timeoutFail({ duration: "1 minute", onTimeout: () => "timed out after a minute" }),
    Effect.provide(Layer.mergeAll(transport, Layer.succeed(Stage, { url: stage, runtime }), quiet)),
    Effect.exit,
    Effect.map(Exit.match({
      onSuccess: () => ({ name }),
      onFailure: (cause) => ({ name, error: Cause.pretty(cause) })
    }))
  )

/** Number of tests that run at once. */
const concurrency = 12

/** Runs all tests; writes a line of JSON for each to the console. */
export const runAll = (place: Place): Promise<void> =>
  Effect.promise(() => testsOf(place.stage)).pipe(
    Effect.flatMap(Effect.forEach(
      (test) => Effect.flatMap(run(test, place), (result) => Console.log(JSON.stringify(result))),
      { concurrency, discard: true }
    )),
    Effect.runPromise
  )

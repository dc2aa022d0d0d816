/** Runs the tests, wherever that is. */
import type { HttpClient } from "@effect/platform"
import { Cause, Effect, Exit, Layer, Logger } from "effect"
import { Stage, type Test } from "./kit.js"
import type { Matrix } from "./scenes.js"
import { suite } from "./suite.js"

/** What became of a test: `error` says why it failed. */
export interface Result {
  readonly name: string
  readonly error?: string
}

/** Where tests run, and over what. */
export interface Place {
  readonly stage: string
  readonly runtime: string
  readonly transport: Layer.Layer<HttpClient.HttpClient>
}

/** The tests, as the stage has them. */
export const testsOf = async (stage: string): Promise<ReadonlyArray<Test>> => {
  const response = await fetch(`${stage}/matrix`)
  return suite((await response.json()) as Matrix) // sound: the stage is ours
}

/** What the library logs is not what the suite tells. */
const quiet = Logger.remove(Logger.defaultLogger)

/** Runs one test: in its own scope, with a transport of its own, for at most a minute. */
export const run = ({ name, run }: Test, { runtime, stage, transport }: Place): Effect.Effect<Result> =>
  run.pipe(
    Effect.scoped,
    Effect.timeoutFail({ duration: "1 minute", onTimeout: () => "it took more than a minute" }),
    Effect.provide(Layer.mergeAll(transport, Layer.succeed(Stage, { url: stage, runtime }), quiet)),
    Effect.exit,
    Effect.map(Exit.match({
      onSuccess: () => ({ name }),
      onFailure: (cause) => ({ name, error: Cause.pretty(cause) })
    }))
  )

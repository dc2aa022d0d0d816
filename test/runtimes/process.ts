/** Runs the suite as a process with the arguments STAGE and RUNTIME; writes a line of JSON for each test. */
import type { HttpClient } from "@effect/platform"
import type { Layer } from "effect"
import { runAll } from "./runner.js"

/** Runs all tests over a transport. */
export const main = (transport: Layer.Layer<HttpClient.HttpClient>): void => {
  const [stage = "", runtime = ""] = process.argv.slice(2)
  void runAll({ stage, runtime, transport })
}

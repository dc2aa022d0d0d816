/** Runs the suite with a browser's `fetch`: a page calls `runSuite`, which writes its results to the console. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { runAll } from "../runner.js"

Object.assign(globalThis, {
  runSuite: (stage: string, runtime: string) => runAll({ stage, runtime, transport: FetchHttpClient.layer })
})

/** Runs the suite with the runtime's own `fetch`. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { main } from "../process.js"

main(FetchHttpClient.layer)

/** Runs the suite in a worker. `/` returns the names of the tests, `/name` runs a test and returns its result. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Effect } from "effect"
import { run, testsOf } from "../runner.js"

export default {
  async fetch(request: Request, env: { readonly STAGE: string; readonly RUNTIME: string }): Promise<Response> {
    const { pathname } = new URL(request.url)
    const all = await testsOf(env.STAGE)
    if (pathname === "/") return Response.json(all.map(({ name }) => name))
    const test = all.find(({ name }) => name === decodeURIComponent(pathname.slice(1)))
    if (test === undefined) return new Response(null, { status: 404 })
    const place = { stage: env.STAGE, runtime: env.RUNTIME, transport: FetchHttpClient.layer }
    return Response.json(await Effect.runPromise(run(test, place)))
  }
}

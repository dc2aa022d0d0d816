/** Runs the suite with Deno's `fetch` and a new connection for each request: on a kept-alive one Deno may send a request twice. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Layer } from "effect"
import { main } from "../process.js"

declare const Deno: { readonly createHttpClient: (options: { readonly poolMaxIdlePerHost: number }) => object }

const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 })
const init: RequestInit & { readonly client: object } = { client }

main(Layer.merge(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.RequestInit, init)))

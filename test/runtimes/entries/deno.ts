/** The suite over Deno's `fetch`, with a connection of its own for each request: over a kept one it may send a request twice. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Layer } from "effect"
import { main } from "../process.js"

declare const Deno: { readonly createHttpClient: (options: { readonly poolMaxIdlePerHost: number }) => object }

const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 })
const init: RequestInit & { readonly client: object } = { client }

main(Layer.merge(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.RequestInit, init)))

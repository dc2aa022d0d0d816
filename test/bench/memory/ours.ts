/** All versions as one stream, over the one-line layer for Node with all that it does. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Stream from "effect/Stream"
import { listActionVersions, Pagination } from "../../../src/index.js"
import * as Node from "../../../src/Node.js"
import { actionId, clientId, clientSecret } from "../calls/payloads.js"
import { client } from "./client.js"
import { perPage } from "./pages.js"

const variables = (origin: string) =>
  new Map([
    ["IDENTITY_BASE_URL", `${origin}/api/v2`],
    ["IDENTITY_AUTH_URL", origin],
    ["IDENTITY_CLIENT_ID", clientId],
    ["IDENTITY_CLIENT_SECRET", clientSecret]
  ])

void client(async (origin) => {
  const runtime = ManagedRuntime.make(
    Node.layer.pipe(Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(variables(origin)))))
  )
  await runtime.runtime()
  return (pages, look) =>
    runtime.runPromise(
      Pagination.stream(listActionVersions, { actionId, per_page: perPage }).pipe(
        Stream.take(pages * perPage),
        Stream.runForEachChunk((versions) =>
          Effect.sync(() => {
            for (const version of versions) look(version)
          })
        )
      )
    )
})

/** All versions as one stream, over the one-line layer for Node with all that it does. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type IdentityClient, listActionVersions, Pagination } from "../../../src/index.js"
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
  const versions = Pagination.stream(listActionVersions, { actionId, per_page: perPage })
  // It stays open: what is read of it is read on later.
  const pull = await runtime.runPromise(
    Effect.flatMap(Scope.make(), (scope) => Scope.extend(Stream.toPull(versions), scope))
  )
  return {
    onePage: (look) =>
      runtime.runPromise(Effect.map(listActionVersions({ actionId, per_page: perPage }), ({ versions }) => {
        for (const version of versions) look(version)
      })),
    next: (pages, look) => {
      const read = (left: number): Effect.Effect<void, unknown, IdentityClient.IdentityClient> =>
        left === 0 ? Effect.void : Effect.flatMap(pull, (chunk) => {
          for (const version of chunk) look(version)
          return read(left - chunk.length)
        })
      return runtime.runPromise(read(pages * perPage))
    }
  }
})

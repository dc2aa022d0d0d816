/** Reads all versions as one stream, over the complete client of `Node.layerConfig`. */
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
    Node.layerConfig.pipe(Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(variables(origin)))))
  )
  await runtime.runtime()
  const versions = Pagination.stream(listActionVersions, { actionId, per_page: perPage })
  // The scope stays open, so that the next leg continues where this one ends.
  const pull = await runtime.runPromise(
    Effect.flatMap(Scope.make(), (scope) => Scope.extend(Stream.toPull(versions), scope))
  )
  return {
    onePage: (visit) =>
      runtime.runPromise(Effect.map(listActionVersions({ actionId, per_page: perPage }), ({ versions }) => {
        for (const version of versions) visit(version)
      })),
    next: (pages, visit) => {
      const read = (left: number): Effect.Effect<void, unknown, IdentityClient.IdentityClient> =>
        left === 0 ? Effect.void : Effect.flatMap(pull, (chunk) => {
          for (const version of chunk) visit(version)
          return read(left - chunk.length)
        })
      return runtime.runPromise(read(pages * perPage))
    }
  }
})

/** Runs `operations.ts` and the examples of the operations' pages against the embedded tenant. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { IdentityClient } from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { all } from "./operations.js"
import { program as createUsersExport } from "./operations/createUsersExport.js"
import { program as deleteEventStream } from "./operations/deleteEventStream.js"
import { program as deployActionVersion } from "./operations/deployActionVersion.js"
import { program as getAction } from "./operations/getAction.js"
import { program as getActionVersion } from "./operations/getActionVersion.js"
import { program as getDelivery } from "./operations/getDelivery.js"
import { program as getEventStream } from "./operations/getEventStream.js"
import { program as getJob } from "./operations/getJob.js"
import { program as getTokenExchangeProfile } from "./operations/getTokenExchangeProfile.js"
import { program as listActions } from "./operations/listActions.js"
import { program as listActionVersions } from "./operations/listActionVersions.js"
import { program as listDeliveries } from "./operations/listDeliveries.js"
import { program as listEventStreams } from "./operations/listEventStreams.js"
import { program as listTokenExchangeProfiles } from "./operations/listTokenExchangeProfiles.js"
import { program as redeliverEvent } from "./operations/redeliverEvent.js"
import { program as redeliverEvents } from "./operations/redeliverEvents.js"
import { program as updateTokenExchangeProfile } from "./operations/updateTokenExchangeProfile.js"

const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo

const TenantClient = Layer.provideMerge(Tenant.layerClient, Tenant.layer)

it.live("each operation succeeds", () =>
  Effect.gen(function*() {
    const result = yield* all({
      connection: connection.id,
      profile: profile.id,
      action: action.id,
      stream: stream.id,
      event: stream.events[0].id
    })
    assert.deepInclude(result.job, { status: "pending", connection_id: connection.id })
    assert.deepInclude(result.profile, { id: profile.id, name: "Legacy tokens" })
    assert.strictEqual(result.page.total, 3)
  }).pipe(Effect.provide(TenantClient)))

const pages: Readonly<Record<string, Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>>> = {
  createUsersExport,
  deleteEventStream,
  deployActionVersion,
  getAction,
  getActionVersion,
  getDelivery,
  getEventStream,
  getJob,
  getTokenExchangeProfile,
  listActionVersions,
  listActions,
  listDeliveries,
  listEventStreams,
  listTokenExchangeProfiles,
  redeliverEvent,
  redeliverEvents,
  updateTokenExchangeProfile
}

it.live.each(Object.entries(pages))("the example of %s succeeds", ([name, program]) =>
  Effect.gen(function*() {
    const console = yield* Effect.console
    yield* Effect.withConsole(program, { ...console, log: () => Effect.void })
    const { requests } = yield* Tenant.Tenant
    const sent = yield* requests
    assert.deepStrictEqual(sent.map(({ operation }) => operation), ["token", name])
    for (const { status } of sent) assert.include([200, 202, 204], status)
  }).pipe(Effect.provide(TenantClient)))

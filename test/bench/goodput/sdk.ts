/** The vendor's own SDK, with its default of two retries or with more. */
import { ManagementClient } from "auth0"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Tenant from "../../../src/Tenant.js"
import { client } from "./client.js"
import type { Operations } from "./work.js"

const { full } = Tenant.demoClients

/** As it was thrown. */
const from = (call: () => PromiseLike<unknown>) => Effect.tryPromise({ try: call, catch: (error) => error })

const operationsOf = (sdk: ManagementClient): Operations<never> => ({
  createUsersExport: (input) => from(() => sdk.jobs.usersExports.create(input)),
  updateTokenExchangeProfile: ({ id, name }) => from(() => sdk.tokenExchangeProfiles.update(id, { name })),
  listActionVersions: ({ actionId }) => from(() => sdk.actions.versions.list(actionId)),
  redeliverEvent: ({ event_id, id }) => from(() => sdk.eventStreams.redeliveries.createById(id, event_id)),
  deleteEventStream: ({ id }) => from(() => sdk.eventStreams.delete(id))
})

/** Makes the program of a client with this number of retries. */
export const sdkClient = (maxRetries?: number): void =>
  client((origin, work) =>
    Effect.suspend(() =>
      work(operationsOf(
        new ManagementClient({
          domain: new URL(origin).host,
          clientId: full.id,
          clientSecret: Redacted.value(full.secret),
          ...(maxRetries !== undefined && { maxRetries }),
          // It knows https only; the tenant is on a plain socket of this machine.
          fetch: (input, init) => fetch(String(input).replace(/^https:/, "http:"), init)
        })
      ))
    )
  )

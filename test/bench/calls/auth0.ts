/** The vendor's own SDK, with its defaults. */
import { ManagementClient } from "auth0"
import { client, runPromises } from "./client.js"
import { actionId, clientId, clientSecret, job, perPage } from "./payloads.js"

void client((origin) => {
  const sdk = new ManagementClient({
    domain: new URL(origin).host,
    clientId,
    clientSecret,
    // The SDK always uses https; the server listens without TLS.
    fetch: (input, init) => fetch(String(input).replace(/^https:/, "http:"), init)
  })
  const body = { ...job, fields: [...job.fields] }
  return runPromises({
    small: async () => (await sdk.actions.versions.list(actionId)).response,
    page: async () => (await sdk.actions.versions.list(actionId, { per_page: perPage })).response,
    job: () => sdk.jobs.usersExports.create(body)
  })
})

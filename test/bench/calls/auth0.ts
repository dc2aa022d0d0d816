/** The vendor's own SDK, with its defaults. */
import { ManagementClient } from "auth0"
import { client, promising } from "./client.js"
import { actionId, clientId, clientSecret, job, perPage } from "./payloads.js"

void client((origin) => {
  const sdk = new ManagementClient({
    domain: new URL(origin).host,
    clientId,
    clientSecret,
    // It knows https only; the server is on a plain socket of this machine.
    fetch: (input, init) => fetch(String(input).replace(/^https:/, "http:"), init)
  })
  const body = { ...job, fields: [...job.fields] }
  return promising({
    small: async () => (await sdk.actions.versions.list(actionId)).response,
    page: async () => (await sdk.actions.versions.list(actionId, { per_page: perPage })).response,
    job: () => sdk.jobs.usersExports.create(body)
  })
})

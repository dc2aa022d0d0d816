/** The same program with the vendor's SDK. */
import { ManagementClient } from "auth0"

const [, , origin = "", actionId = ""] = process.argv

const sdk = new ManagementClient({
  domain: new URL(origin).host,
  clientId: "a-client",
  clientSecret: "its secret",
  // The SDK always uses https; the server listens without TLS.
  fetch: (input, init) => fetch(String(input).replace(/^https:/, "http:"), init)
})

const { response } = await sdk.actions.versions.list(actionId)
console.log(response.total)

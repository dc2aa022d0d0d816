/** The same with the vendor's SDK. */
import { ManagementClient } from "auth0"

const [, , origin = "", actionId = ""] = process.argv

const sdk = new ManagementClient({
  domain: new URL(origin).host,
  token: "a-token",
  // It knows https only; the server is on a plain socket of this machine.
  fetch: (input, init) => fetch(String(input).replace(/^https:/, "http:"), init)
})

const { response } = await sdk.actions.versions.list(actionId)
console.log(response.total)

/** The same call with the vendor's SDK, imported by the entry point of its resource. */
import { ActionsClient } from "auth0/actions"

const [, , origin = "", actionId = ""] = process.argv

const actions = new ActionsClient({
  baseUrl: `${origin}/api/v2`,
  token: "a-token"
})

const { response } = await actions.versions.list(actionId)
console.log(response.total)

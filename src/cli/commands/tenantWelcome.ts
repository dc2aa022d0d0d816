/** What `tenant` prints when it listens: the variables for programs, the clients, ids to try, and the pages. */
import * as Redacted from "effect/Redacted"
import * as Tenant from "../../Tenant.js"
import { keyFragment } from "../../tenant/control/messages.js"
import { bold, dim, table } from "../shared/text.js"

const indentedTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string => table(rows).replace(/^/gm, "  ")

/** The variables of a client that has every scope. `IDENTITY_TOKEN_URL` is for other programs than this one. */
export const variables = (origin: string) => {
  const { full } = Tenant.demoClients
  return {
    IDENTITY_BASE_URL: `${origin}/api/v2`,
    IDENTITY_AUTH_URL: origin,
    IDENTITY_TOKEN_URL: `${origin}/oauth/token`,
    IDENTITY_CLIENT_ID: full.id,
    IDENTITY_CLIENT_SECRET: Redacted.value(full.secret)
  }
}

const clients = () => {
  const { full, notGlobal, readsActions } = Tenant.demoClients
  const client = ({ id, secret }: Tenant.Client, use: string) => [id, Redacted.value(secret), use]
  return [
    client(full, "every scope, global"),
    client(readsActions, "read:actions only, else 403"),
    client(notGlobal, "not global: 401 on exports")
  ]
}

const demoIds = () => {
  const { actions: [action], connections: [connection], profiles: [profile], streams: [stream] } = Tenant.demo
  const [failed, , , delivered] = stream.events
  return [
    ["connection", connection.id],
    ["profile", profile.id],
    ["action", action.id],
    ["event stream", stream.id],
    ["event, failed", failed.id],
    ["event, delivered", delivered.id]
  ]
}

/** The variables of programs that use the control interface. */
export const controlVariables = (origin: string, key: string) => ({
  IDENTITY_CONTROL_URL: `${origin}/_tenant`,
  IDENTITY_CONTROL_KEY: key
})

const exports = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).map(([name, value]) => `  export ${name}=${value}`)

/** Lists the variables for a client, the clients, ids to try, and the pages. */
export const welcome = (origin: string, key: string, isDemo: boolean): string =>
  [
    [bold(`The tenant listens at ${origin}`)],
    [
      bold("Variables for a client"),
      ...exports(variables(origin))
    ],
    [bold("Clients") + dim(" (id, secret, use)"), indentedTable(clients())],
    ...(isDemo ? [[bold("Ids to try"), indentedTable(demoIds())]] : []),
    [
      bold("In a browser"),
      indentedTable([
        ["live page", `${origin}/#${keyFragment}=${key}`],
        ["operations", `${origin}/docs`],
        ["OpenAPI 3.1", `${origin}/openapi.json`]
      ])
    ],
    [
      bold("For tests in any language, to look at the tenant and to control it"),
      ...exports(controlVariables(origin, key))
    ],
    [dim("Press Ctrl-C to stop.")]
  ].map((section) => section.join("\n")).join("\n\n")

/** Gets tokens. A token is kept in memory only, until the page is closed. */
import type { ClientView } from "../../control/messages.js"
import { call } from "../ui/api.js"
import { parseJson } from "../ui/json.js"

export interface Token {
  readonly value: string
  readonly client: string
  readonly scopes: ReadonlyArray<string>
  /** Milliseconds since 1970 by the browser's clock. */
  readonly expiresAt: number
}

/** The body of a response of the token endpoint. */
interface TokenResponse {
  readonly access_token?: string
  readonly expires_in?: number
  readonly scope?: string
  readonly error_description?: string
}

/** Asks the token endpoint, as a program does. */
export const tokenBySecret = async (client: string, secret: string): Promise<Token> => {
  const response = await fetch("/oauth/token/", {
    method: "POST",
    credentials: "omit",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: client,
      client_secret: secret,
      audience: "/api/v2/"
    })
  })
  // Sound: each field is checked for its absence.
  const body = (parseJson(await response.text()) ?? {}) as TokenResponse
  if (!response.ok || body.access_token === undefined) {
    throw new Error(`${response.status}: ${body.error_description ?? "no token"}`)
  }
  return {
    value: body.access_token,
    client,
    scopes: (body.scope ?? "").split(" ").filter((scope) => scope !== ""),
    expiresAt: Date.now() + (body.expires_in ?? 0) * 1000
  }
}

/** The clients of the tenant, for a page that has the key. */
export const clientsOf = (key: string): Promise<ReadonlyArray<ClientView>> =>
  call(key, "snapshot", { query: {} }).then(({ clients }) => clients)

/** Lets the tenant issue a token for a client: the key takes the place of the secret. */
export const tokenByKey = async (key: string, client: string): Promise<Token> => {
  const { token, view: { expiresAt, issuedAt, scopes } } = await call(key, "issueToken", { body: { client } })
  return { value: token, client, scopes, expiresAt: Date.now() + expiresAt - issuedAt }
}

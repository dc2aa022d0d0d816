/** Names the client that a request claims to come from. Nothing is verified: a refused token has a client, too. */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import { assertedClientId } from "../../server/clientAuthentication.js"

/** The number of tokens whose client is remembered. */
const maxTokens = 100

/** The client of a token of this tenant: its claim `azp`. */
const clientOfToken = (authorization: string): string | null => {
  const [, payload = ""] = authorization.split(".")
  const claims = Either.flatMap(
    Encoding.decodeBase64UrlString(payload),
    (text) => Either.try((): unknown => JSON.parse(text))
  )
  const client = Either.isRight(claims) && Predicate.hasProperty(claims.right, "azp") ? claims.right.azp : undefined
  return Predicate.isString(client) ? client : null
}

/** Names the client of a token request, by its parsed body. */
const clientOfTokenRequest = (parsed: unknown): string | null => {
  const text = (name: string) =>
    Predicate.hasProperty(parsed, name) && Predicate.isString(parsed[name]) ? parsed[name] : ""
  return text("client_id") || assertedClientId(text("client_assertion")) || null
}

/** Makes a function that names clients. It remembers the newest tokens: most requests carry the one before. */
export const make = () => {
  const clients = new Map<string, string | null>()
  return (authorization: string | undefined, parsed: unknown): string | null => {
    if (parsed !== undefined) return clientOfTokenRequest(parsed)
    if (authorization === undefined) return null
    const known = clients.get(authorization)
    if (known !== undefined) return known
    const client = clientOfToken(authorization)
    clients.set(authorization, client)
    const [oldest = authorization] = clients.keys()
    if (clients.size > maxTokens) clients.delete(oldest)
    return client
  }
}

/** Names the client that a request claims to come from, and its token. Nothing is verified: a refused token has a client, too. */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import { assertedClientId } from "../../server/clientAuthentication.js"
import type { RequestSummary } from "../http/schemas.js"

/** The number of tokens whose claims are remembered. */
const maxTokens = 100

export type Caller = Pick<RequestSummary, "client" | "token">

const nobody: Caller = { client: null, token: null }

/** Reads the claims of a token of this tenant: its client (`azp`), and its own id (`jti`). */
const callerOfToken = (authorization: string): Caller => {
  const [, payload = ""] = authorization.split(".")
  const claims = Either.flatMap(
    Encoding.decodeBase64UrlString(payload),
    (text) => Either.try((): unknown => JSON.parse(text))
  )
  const claim = (name: string): string | null =>
    Either.isRight(claims) && Predicate.hasProperty(claims.right, name) && Predicate.isString(claims.right[name])
      ? claims.right[name]
      : null
  return { client: claim("azp"), token: claim("jti") }
}

/** Names the client of a token request, by its parsed body. */
const clientOfTokenRequest = (parsed: unknown): string | null => {
  const text = (name: string) =>
    Predicate.hasProperty(parsed, name) && Predicate.isString(parsed[name]) ? parsed[name] : ""
  return text("client_id") || assertedClientId(text("client_assertion")) || null
}

/** Makes a function that names callers. It remembers the newest tokens: most requests carry the one before. */
export const make = () => {
  const callers = new Map<string, Caller>()
  return (authorization: string | undefined, parsed: unknown): Caller => {
    if (parsed !== undefined) return { client: clientOfTokenRequest(parsed), token: null }
    if (authorization === undefined) return nobody
    const known = callers.get(authorization)
    if (known !== undefined) return known
    const caller = callerOfToken(authorization)
    callers.set(authorization, caller)
    const [oldest = authorization] = callers.keys()
    if (callers.size > maxTokens) callers.delete(oldest)
    return caller
  }
}

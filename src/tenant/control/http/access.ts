/** Decides who may use the control interface: programs and pages that have the key, of this machine unless other hosts are allowed. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { isLoopback } from "../../../internal/http/baseUrl.js"
import { type AllowedHosts, isAllowed } from "../../server/allowedHosts.js"
import { keyHeader } from "../messages.js"
import type { Refusal } from "./schemas.js"

/** A key that nobody can guess: 32 letters and digits of the platform's random numbers. */
export const makeKey: Effect.Effect<Redacted.Redacted<string>> = Effect.sync(() => {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(32))
  return Redacted.make(Array.from(bytes, (byte) => (byte & 31).toString(32)).join(""))
})

/** Compares two texts in a time that does not depend on where they differ. */
const isSame = (one: string, other: string): boolean => {
  let difference = one.length ^ other.length
  for (let index = 0; index < other.length; index++) {
    difference |= one.charCodeAt(index % Math.max(1, one.length)) ^ other.charCodeAt(index)
  }
  return difference === 0
}

const isLoopbackAddress = (address: string): boolean => {
  const plain = address.replace(/^::ffff:/i, "")
  return plain === "::1" || isLoopback(plain)
}

/** Headers that proxies add: through one, requests come from anywhere. */
const proxyHeaders = ["forwarded", "x-forwarded-for", "x-forwarded-host", "via"]

const refused = (message: string): Refusal => ({ status: 403, message })

/** The refusal of a request, or `undefined` if it may pass. */
export const refusalOf = (
  { headers, remoteAddress }: HttpServerRequest.HttpServerRequest,
  key: Redacted.Redacted<string>,
  allowedHosts: AllowedHosts
): Refusal | undefined => {
  const { host = "", origin } = headers
  const site = headers["sec-fetch-site"]
  const isFromElsewhere = Option.exists(remoteAddress, (address) => !isLoopbackAddress(address)) ||
    proxyHeaders.some((name) => name in headers)
  if (!isAllowed(host, allowedHosts) || (allowedHosts === undefined && isFromElsewhere)) {
    return refused("The control interface is for this machine only, unless the tenant has `allowedHosts`")
  }
  if (
    (origin !== undefined && origin.toLowerCase().replace(/^https?:\/\//, "") !== host.toLowerCase()) ||
    site === "cross-site" || site === "same-site"
  ) {
    return refused("The control interface is not for pages of other origins")
  }
  const sent = headers[keyHeader]
  return sent !== undefined && isSame(sent, Redacted.value(key))
    ? undefined
    : refused(`The header ${keyHeader} must have the key that the tenant was started with`)
}

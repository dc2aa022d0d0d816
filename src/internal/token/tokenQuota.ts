/** Reads the token quotas of a response, and tells when one is nearly used up. */
import type * as Headers from "@effect/platform/Headers"
import * as Duration from "effect/Duration"
import type { TokenQuota } from "../../Errors.js"
import * as ResponseHeaders from "../http/responseHeaders.js"

const headers = { client: "auth0-client-quota-limit", organization: "auth0-organization-quota-limit" } as const

/** Reads one quota: `b=per_hour;q=10;r=7;t=3540`, with the seconds until it is full again in `t`. */
const parseQuota = (of: TokenQuota["of"], text: string): ReadonlyArray<TokenQuota> => {
  const fields = new URLSearchParams(text.replaceAll(";", "&").replaceAll(" ", ""))
  const [limit, remaining, seconds] = ["q", "r", "t"].map((name) => ResponseHeaders.integer(fields.get(name)))
  const bucket = fields.get("b") ?? ""
  const isComplete = limit !== undefined && remaining !== undefined && seconds !== undefined
  return isComplete && /^\w{1,32}$/.test(bucket)
    ? [{ of, bucket, limit, remaining, resetAfter: Duration.seconds(seconds) }]
    : []
}

/** The most quotas that are read from one response. */
const mostQuotas = 10

/** Reads all quotas of a response. Ignores what it does not understand. */
export const parse = (responseHeaders: Headers.Headers): ReadonlyArray<TokenQuota> =>
  (["client", "organization"] as const).flatMap((of) => {
    const value = responseHeaders[headers[of]]
    return value === undefined ? [] : value.split(",", mostQuotas).flatMap((text) => parseQuota(of, text))
  })

/** Checks that a fifth of a quota is left, or only one token of a small one. */
const isLow = ({ limit, remaining }: TokenQuota): boolean => remaining < limit && remaining <= Math.max(1, limit / 5)

/** Makes a function that picks the quotas that have just become low. A quota that rises again is picked again. */
export const makeWarner = () => {
  const low = new Set<string>()
  return (quotas: ReadonlyArray<TokenQuota>): ReadonlyArray<TokenQuota> =>
    quotas.filter((quota) => {
      const name = `${quota.of} ${quota.bucket}`
      const isNew = !low.has(name)
      if (!isLow(quota)) low.delete(name)
      else low.add(name)
      return isNew && low.has(name)
    })
}

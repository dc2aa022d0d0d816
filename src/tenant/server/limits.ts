/** The limits on what a tenant keeps in memory. */
import * as Record from "effect/Record"
import type { Issue } from "../../Errors.js"

const defaults = {
  /** The number of requests in the log. */
  requests: 10_000,
  /** The number of tokens that are valid. */
  tokens: 10_000,
  /** The size of the largest body of a request, in bytes. */
  bodySize: 65_536
}

type Limits = typeof defaults

/** Fills in the defaults. */
export const make = (limits: { readonly [Name in keyof Limits]?: number | undefined }): Limits =>
  Record.map(defaults, (value, name) => limits[name] ?? value)

/** Lists the limits that are neither whole numbers of at least 0 nor `Infinity`. */
export const issuesOf = (limits: Limits): ReadonlyArray<Issue> =>
  Object.entries(limits).flatMap(([name, limit]) =>
    (limit === Infinity || Number.isInteger(limit)) && limit >= 0
      ? []
      : [{ path: `limits.${name}`, message: "expected an integer of at least 0, or Infinity" }]
  )

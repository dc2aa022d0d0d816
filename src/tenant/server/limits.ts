/** The limits on what a tenant keeps in memory. */
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"

const defaults = {
  /** The number of requests in the log. */
  requests: 10_000,
  /** The number of tokens that are valid. */
  tokens: 10_000,
  /** The size of the largest body of a request, in bytes. */
  bodySize: 65_536
}

type Limits = typeof defaults

/** Fills in the defaults. A limit that is neither a whole number of at least 0 nor `Infinity` is a defect. */
export const make = (limits: { readonly [Name in keyof Limits]?: number | undefined }): Effect.Effect<Limits> => {
  const all = Record.map(defaults, (value, name) => limits[name] ?? value)
  const invalid = Object.entries(all).find(([, limit]) => !(limit === Infinity || Number.isInteger(limit)) || limit < 0)
  return invalid === undefined
    ? Effect.succeed(all)
    : Effect.dieMessage(`Invalid limits.${invalid[0]}: it must be a whole number of at least 0, or Infinity`)
}

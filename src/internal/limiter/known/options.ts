/** Limits that users set or know beforehand, and their validation. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { InvalidInput } from "../../../Errors.js"

/**
 * At most `limit` calls start in any time as long as `interval`: between a call and the one `limit` places after it lies at least
 * that time, by a clock that no change of the time of day affects. Each attempt of a call counts.
 * @since 0.1.0 @category models
 */
export interface Ceiling {
  readonly limit: number
  readonly interval: Duration.DurationInput
  /** The names of the operations that it counts, together. Default: all of a tenant. */
  readonly operations?: ReadonlyArray<string> | undefined
}

/**
 * The service's limit as it is known beforehand: `burst` calls at once, and `limit` more in each `interval`.
 * @since 0.1.0 @category models
 */
export interface Prior {
  readonly burst: number
  readonly limit: number
  readonly interval: Duration.DurationInput
  /** The names of the operations that share it; an operation has one prior. Default: all that no other prior names. */
  readonly operations?: ReadonlyArray<string> | undefined
}

/** Limits that are known before the first response. @since 0.1.0 @category models */
export interface KnownLimits {
  /** The user's own limits, below the service's: each is kept, however much the service would allow. Default: none. */
  readonly ceiling?: Ceiling | ReadonlyArray<Ceiling> | undefined
  /** The service's limits, so that the first calls need not wait to learn them. Responses correct them. Default: unknown. */
  readonly prior?: Prior | ReadonlyArray<Prior> | undefined
}

/** A limit with its interval in milliseconds. */
export type Resolved<Limit extends Ceiling> = Omit<Limit, "interval" | "operations"> & {
  readonly interval: number
  readonly operations: ReadonlyArray<string> | undefined
}

/** Known limits without defaults, and the milliseconds for which what the service says is believed without a test. */
export interface ResolvedLimits {
  readonly ceilings: ReadonlyArray<Resolved<Ceiling>>
  readonly priors: ReadonlyArray<Resolved<Prior>>
  readonly maxPause: number
}

/** The options of all limiters that are resolved here. */
interface Common {
  readonly reserve?: number | undefined
  readonly maxPause?: Duration.DurationInput | undefined
}

/** Resolves `maxPause`. */
export const maxPauseOf = ({ maxPause = "15 minutes" }: Pick<Common, "maxPause">): number => Duration.toMillis(maxPause)

export const none: ResolvedLimits = { ceilings: [], priors: [], maxPause: maxPauseOf({}) }

type Issue = InvalidInput["issues"][number]

/** Checks `limit` and `interval`; each issue names its field. */
export const issuesOf = (
  { interval, limit }: Pick<Ceiling, "limit" | "interval">,
  prefix = ""
): ReadonlyArray<Issue> => {
  const millis = Duration.toMillis(interval)
  return [
    ...countIssues(limit, `${prefix}limit`),
    ...(millis > 0 && millis < Infinity ? [] : [{ path: `${prefix}interval`, message: "expected a time above zero" }])
  ]
}

const countIssues = (count: number, path: string): ReadonlyArray<Issue> =>
  Number.isSafeInteger(count) && count >= 1 ? [] : [{ path, message: "expected an integer of at least 1" }]

const listOf = <Limit extends object>(name: string, limits: Limit | ReadonlyArray<Limit> | undefined) => {
  if (limits === undefined) return []
  return isList(limits)
    ? limits.map((limit, nth) => ({ limit, path: `${name}.${nth}.` }))
    : [{ limit: limits, path: `${name}.` }]
}

/** `Array.isArray` does not recognise read-only arrays. */
const isList = <A extends object>(value: A | ReadonlyArray<A>): value is ReadonlyArray<A> => Array.isArray(value)

const resolved = <Limit extends Ceiling>({ limit }: { readonly limit: Limit }): Resolved<Limit> => ({
  ...limit,
  interval: Duration.toMillis(limit.interval),
  operations: limit.operations
})

/** Checks that each operation has one prior. */
const priorIssues = (priors: ReadonlyArray<{ readonly limit: Prior; readonly path: string }>): ReadonlyArray<Issue> => {
  const counted = new Set<string | undefined>()
  return priors.flatMap(({ limit, path }) => {
    const again = (limit.operations ?? [undefined]).filter((name) => counted.has(name))
    for (const name of limit.operations ?? [undefined]) counted.add(name)
    return again.map((name) => ({
      path: `${path}operations`,
      message: name === undefined ? "expected names, as another prior has none" : `another prior has ${name}, too`
    }))
  })
}

/** Checks `reserve`. */
export const reserveIssues = ({ reserve = 0 }: Pick<Common, "reserve">): ReadonlyArray<Issue> =>
  reserve >= 0 && reserve <= 1 ? [] : [{ path: "reserve", message: "expected a number from 0 to 1" }]

/** Validates known limits and `reserve`; `operation` names the layer in the failure. */
export const resolve = (
  operation: string,
  options: KnownLimits & Common
): Effect.Effect<ResolvedLimits, InvalidInput> => {
  const ceilings = listOf("ceiling", options.ceiling)
  const priors = listOf("prior", options.prior)
  const issues = [
    ...[...ceilings, ...priors].flatMap(({ limit, path }) => issuesOf(limit, path)),
    ...[...ceilings, ...priors].flatMap(({ limit: { operations }, path }) =>
      operations?.length === 0 ? [{ path: `${path}operations`, message: "expected at least one operation" }] : []
    ),
    ...priors.flatMap(({ limit: { burst }, path }) => countIssues(burst, `${path}burst`)),
    ...priorIssues(priors),
    ...reserveIssues(options)
  ]
  if (issues.length === 0) {
    const limits = { ceilings: ceilings.map(resolved), priors: priors.map(resolved) }
    return Effect.succeed({ ...limits, maxPause: maxPauseOf(options) })
  }
  return new InvalidInput({ operation, issues })
}

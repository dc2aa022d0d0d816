/** The filter of failed deliveries, as users give it and as the service takes it. */
import * as DateTime from "effect/DateTime"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type { Issue } from "../../Errors.js"
import { beginsWithDate } from "../runtime/calendar.js"

/**
 * A point in time: a `Date`, a `DateTime`, or ISO 8601 text. Text is a date alone, which begins at midnight UTC, or has a time with `Z` or
 * an offset, for example `2026-01-31T22:00:00+01:00`; a `Timestamp` of the service is such a text.
 * @since 0.1.0 @category models
 */
export type Time = Date | DateTime.DateTime | string

/** Selects failed deliveries. All given fields have to match. @since 0.1.0 @category models */
export interface Filter {
  /** The types of the events, for example `user.created`; at least one (default: all types). */
  readonly eventTypes?: ReadonlyArray<string> | undefined
  /** The start of the time of the failures (default: the first). Rounded down to a second. */
  readonly from?: Time | undefined
  /** The end of that time (default: none). Rounded up to the next second. */
  readonly to?: Time | undefined
}

/** The filter as the service takes it, but for the types, which are a list here and a text there. */
export interface EncodedFilter {
  readonly event_types?: ReadonlyArray<string>
  readonly date_from?: string
  readonly date_to?: string
}

const isoText = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

/** The milliseconds of a time since 1970; NaN if it is none. */
const read = (time: Time | undefined): number =>
  typeof time === "string"
    ? isoText.test(time) && beginsWithDate(time) ? Date.parse(time) : NaN
    : time instanceof Date
    ? time.getTime()
    : DateTime.isDateTime(time)
    ? DateTime.toEpochMillis(time)
    : NaN

/**
 * Converts a time, if there is one, to RFC 3339 with seconds, which is the longest text that the service takes: 20 characters. Rounds up to
 * the next second even from a whole one, because the service excludes the end itself (types of Auth0's SDK).
 */
const encodeTime = (time: Time | undefined, round: "down" | "up"): string | undefined => {
  const rounded = DateTime.make((Math.floor(read(time) / 1000) + (round === "up" ? 1 : 0)) * 1000)
  // Other years have a sign and two more digits.
  return rounded.pipe(
    Option.map((time) => `${DateTime.formatIso(time).slice(0, -5)}Z`),
    Option.filter((text) => text.length === 20),
    Option.getOrUndefined
  )
}

const timeMessage = "expected a Date, a DateTime, or ISO 8601 text with Z or an offset, of the years 0 to 9999"

const typeIssues = (types: ReadonlyArray<string> | undefined): ReadonlyArray<Issue> =>
  types?.length === 0
    ? [{ path: "eventTypes", message: "expected at least one type" }]
    : (types ?? []).flatMap((type, index) =>
      /^[^,\p{Cs}]+$/u.test(type) // URLs cannot contain half of a surrogate pair
        ? []
        : [{ path: `eventTypes[${index}]`, message: "expected a type of event, without commas" }]
    )

/**
 * Encodes a filter, or lists its issues. `from` is rounded down to a second and `to` up, because the service takes no fraction: up to
 * a second more may match, but nothing is missed.
 */
export const encode = ({ eventTypes, from, to }: Filter): Either.Either<EncodedFilter, ReadonlyArray<Issue>> => {
  const dateFrom = encodeTime(from, "down")
  const dateTo = encodeTime(to, "up")
  const issues = [
    ...typeIssues(eventTypes),
    ...(from !== undefined && dateFrom === undefined ? [{ path: "from", message: timeMessage }] : []),
    ...(to !== undefined && dateTo === undefined ? [{ path: "to", message: timeMessage }] : []),
    ...(dateFrom !== undefined && dateTo !== undefined && dateFrom > dateTo
      ? [{ path: "to", message: "expected a time that is not before `from`" }]
      : [])
  ]
  return issues.length > 0 ? Either.left(issues) : Either.right({
    ...(eventTypes !== undefined && { event_types: eventTypes }),
    ...(dateFrom !== undefined && { date_from: dateFrom }),
    ...(dateTo !== undefined && { date_to: dateTo })
  })
}

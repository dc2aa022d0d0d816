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
  /** The end of that time (default: none), which the service excludes. Rounded up to a second. */
  readonly to?: Time | undefined
}

/** The filter as the service takes it, but for the types, which are a list here and a text there. */
export interface EncodedFilter {
  readonly event_types?: ReadonlyArray<string>
  readonly date_from?: string
  readonly date_to?: string
}

const isoText = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3}(\d*))?)?(?:Z|[+-]\d\d:\d\d))?$/

/** The milliseconds of a text, and whether digits after those of the milliseconds count. */
const parse = (text: string): { readonly millis: number; readonly hasMore: boolean } => {
  const found = isoText.exec(text)
  return {
    millis: found !== null && beginsWithDate(text) ? Date.parse(text) : NaN,
    hasMore: Number(found?.[1]) > 0
  }
}

const read = (time: Time | undefined): { readonly millis: number; readonly hasMore: boolean } =>
  typeof time === "string"
    ? parse(time)
    : {
      millis: time instanceof Date ? time.getTime() : DateTime.isDateTime(time) ? DateTime.toEpochMillis(time) : NaN,
      hasMore: false
    }

/** Converts a time, if there is one, to RFC 3339 with seconds, which is the longest text that the service takes: 20 characters. */
const encodeTime = (time: Time | undefined, round: "down" | "up"): string | undefined => {
  const { hasMore, millis } = read(time)
  const isWhole = millis % 1000 === 0 && !hasMore
  const rounded = DateTime.make((Math.floor(millis / 1000) + (round === "up" && !isWhole ? 1 : 0)) * 1000)
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

/** A point in time exactly as the service wrote it: a `Date` would lose six of its nine fractional digits. */
import type * as Brand from "effect/Brand"
import * as DateTime from "effect/DateTime"
import type * as Option from "effect/Option"
import * as Order_ from "effect/Order"
import * as Schema from "effect/Schema"
import { beginsWithDate } from "./internal/runtime/calendar.js"

/**
 * An ISO 8601 string such as `2023-01-25T17:42:12.004394259Z`, unchanged. The schema accepts any string.
 * @since 0.1.0 @category schemas
 */
export const Timestamp: Schema.Schema<Timestamp> = Schema.typeSchema(Schema.String.pipe(Schema.brand("Timestamp")))
  .annotations({ jsonSchema: { format: "date-time" } })
/** An ISO 8601 string such as `2023-01-25T17:42:12.004394259Z`, unchanged. @since 0.1.0 @category models */
export type Timestamp = string & Brand.Brand<"Timestamp">

/**
 * Brands a string as a timestamp without checking it, for example for a fixture in a test.
 * @since 0.1.0 @category constructors
 */
export const make = (text: string): Timestamp => text as Timestamp // sound: the schema accepts any string

/** A date of the calendar, perhaps with a time, perhaps with an offset. `Date.parse` alone takes many other texts for times. */
const iso = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/i

/** The milliseconds of a time, or `NaN`. */
const millis = (self: string): number => {
  const [, date, time = "00:00", offset = "Z"] = iso.exec(self) ?? []
  return date !== undefined && beginsWithDate(date)
    ? Date.parse(`${date}T${time.replace(",", ".")}${offset.toUpperCase().replace(/(\d\d)(\d\d)$/, "$1:$2")}`)
    : NaN
}

/**
 * Converts to a `DateTime` of millisecond precision; `None` if the string is not a valid time. A time without an offset is UTC.
 * @since 0.1.0 @category getters
 */
export const toDateTime = (self: Timestamp): Option.Option<DateTime.Utc> => DateTime.make(millis(self))

/** The fraction of a second, padded to nine digits. */
const fraction = (self: string): string => (/[T ]\d\d:\d\d:\d\d[.,](\d+)/i.exec(self)?.[1] ?? "").padEnd(9, "0")

/**
 * Orders by time, to the nanosecond. Strings that are not valid times come first, in the order of their characters.
 * @since 0.1.0 @category instances
 */
export const Order: Order_.Order<Timestamp> = /* @__PURE__ */ Order_.make((a, b) => {
  const [timeA, timeB] = [millis(a), millis(b)]
  if (Number.isNaN(timeA) && Number.isNaN(timeB)) return Order_.string(a, b)
  if (Number.isNaN(timeA)) return -1
  if (Number.isNaN(timeB)) return 1
  const [secondA, secondB] = [Math.floor(timeA / 1000), Math.floor(timeB / 1000)]
  return secondA === secondB ? Order_.string(fraction(a), fraction(b)) : Order_.number(secondA, secondB)
})

/** Formats times as the service does. */
import * as DateTime from "effect/DateTime"

/** Formats a time with three fractional digits, as the service does. */
export const timestamp = (now: number): string => DateTime.formatIso(DateTime.unsafeMake(now))

/** Formats a time with nine fractional digits, as the service does for actions. */
export const nanoTimestamp = (now: number): string => timestamp(now).replace("Z", "000000Z")

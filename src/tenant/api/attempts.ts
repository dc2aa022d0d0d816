/** The attempts to deliver an event: a round of four, within seven seconds, for each time that delivery fails. */
import { timestamp } from "./timestamp.js"

/** An attempt to deliver an event of the tenant. @since 0.1.0 @category models */
export interface Attempt {
  readonly timestamp: string
  /** `retrying` marks an accepted redelivery (default: `failed`). */
  readonly status?: "failed" | "retrying"
  readonly error_message?: string
  /** In milliseconds. */
  readonly duration?: number
}

/** The message of a destination that does not take an event. */
export const refused = "The destination has refused the event"

/** The times before the end of a round, in milliseconds. */
const beforeEnd = [7000, 6000, 4000, 0]

/** A round of failures that ends at `end` and does not begin before `start`, in milliseconds since 1970. */
export const failedRound = (
  end: number,
  { error, start = -Infinity }: { readonly error: string; readonly start?: number | undefined }
): ReadonlyArray<Attempt> =>
  beforeEnd.map((millis) => ({
    status: "failed",
    timestamp: timestamp(Math.max(start, end - millis)),
    duration: 20.25,
    error_message: error
  }))

/** The mark of an accepted redelivery. The delivery stays among the failed ones until it has succeeded. */
export const retrying = (now: number): Attempt => ({ status: "retrying", timestamp: timestamp(now) })

/** The attempts that failed. An attempt without a status did. */
export const failures = (
  { attempts = [] }: { readonly attempts?: ReadonlyArray<Attempt> }
): ReadonlyArray<Attempt> => attempts.filter(({ status = "failed" }) => status === "failed")

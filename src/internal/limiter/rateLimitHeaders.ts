/** What a limiter counts on: when the next call may start. Times are local milliseconds. */
import type * as HttpHeaders from "@effect/platform/Headers"
import * as Duration from "effect/Duration"
import * as Headers from "../http/headers.js"

/** What a call is of. */
export interface Call {
  readonly tenant: string
  readonly operation: string
}

/** What there is to learn from. */
export interface Answer {
  readonly status: number
  readonly headers: HttpHeaders.Headers
}

/** What an answer tells of limits, as far as it makes sense. */
export interface Told {
  /** Whether it is a 429. */
  readonly isRefused: boolean
  /** Whether the service could answer: no 5xx. */
  readonly isServed: boolean
  /** How many calls the bucket holds: at least 1. */
  readonly limit: number | undefined
  /** How many are left: from 0 to the limit. */
  readonly remaining: number | undefined
  /** In how many seconds, to the second, the bucket is full; by the server's own clock. */
  readonly untilFull: number | undefined
  /** The server's time, in seconds, where it tells it. */
  readonly date: number | undefined
  /** For how long the service asks to send nothing, in milliseconds. */
  readonly pause: number | undefined
}

const day = 86_400

/** Reads the headers of an answer. What cannot be (a limit of 0, a reset in more than a day) is taken for not told. */
export const told = (answer: Answer, now: number): Told => {
  const isRefused = answer.status === 429
  const { limit, remaining, reset } = Headers.rateLimit(answer.headers)
  const date = Headers.date(answer.headers)
  const ahead = reset === undefined ? undefined : reset - (date ?? Math.floor(now / 1000))
  const pause = isRefused ? Headers.retryAfter(answer.headers, now) : undefined
  const makesSense = limit !== undefined && limit > 0 && (isRefused || remaining !== undefined)
  return {
    isRefused,
    isServed: answer.status < 500,
    limit: makesSense ? limit : undefined,
    remaining: !makesSense ? undefined : isRefused ? 0 : Math.min(remaining ?? 0, limit),
    untilFull: ahead !== undefined && ahead <= day ? Math.max(-day, ahead) : undefined,
    date,
    pause: pause === undefined ? undefined : Math.min(Duration.toMillis(pause), day * 1000)
  }
}

/** What is known of a limit at a time. */
export interface Known {
  readonly limit: number
  readonly remaining: number
  readonly fullAt: number
}

export interface Supply {
  /**
   * In how many milliseconds a call may start that leaves `reserve` calls, and comes after `ahead` others; 0: now;
   * `Infinity`: not before a call ends.
   */
  readonly wait: (now: number, reserve: number, ahead: number) => number
  /** Starts a call, or takes notice of one that was sent before; `held`: it had to wait for it. */
  readonly start: (now: number, held: boolean, sentAt?: number) => Taken
  /** For how many milliseconds the service has asked to send nothing. */
  readonly pausedFor: (now: number) => number
  readonly known: (now: number) => Known | undefined
}

/** What a call has taken. */
export interface Taken {
  /** The call was not sent after all. */
  readonly giveBack: (now: number) => void
  /** The call is over; `undefined`: no answer came. */
  readonly answered: (told: Told | undefined, now: number) => void
}

/** In how many milliseconds a call may start that leaves `share` of the limit, and comes after so many others. */
export const wait = (supply: Supply, now: number, share: number, ahead: number): number => {
  const limit = share === 0 ? 0 : supply.known(now)?.limit ?? 0
  return supply.wait(now, Math.max(0, Math.min(Math.ceil(share * limit), limit - 1)), ahead)
}

/** The job of an export: starts it so that its id is not lost, waits for its end, and gives its link. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { isLoopback } from "../http/baseUrl.js"
import { redact } from "../http/redact.js"
import type { ClaimedCall } from "../redelivery/claim.js"
import { inOwnFiber, withoutFailureLogs } from "../runtime/fiber.js"
import { stopwatch } from "../runtime/monotonicClock.js"
import { ExportError, type ExportReason } from "./exportError.js"
import type { Track } from "./progress.js"

/** The part of a job that an export needs. */
export interface Job {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly created_at?: string
  readonly format?: string
  readonly location?: string
  readonly percentage_done?: number
  readonly time_left_seconds?: number
  readonly status_details?: string
}

const grace = "5 seconds"

/**
 * Starts a job and notes its id. If the fiber is interrupted meanwhile, a request that may have been sent has 5 s to end, so that the id
 * of a started job is noted.
 */
export const start = <E, E2, R2>(
  create: ClaimedCall<Job, E>,
  note: (id: string) => Effect.Effect<void, E2, R2>
): Effect.Effect<Job, E | E2, R2> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      withoutFailureLogs(Effect.forkDaemon(Effect.interruptible(create.run))),
      (fiber) =>
        restore(Fiber.join(fiber)).pipe(
          Effect.onInterrupt(() =>
            Effect.suspend(() => create.state() === "waiting" ? Effect.void : awaitGrace(fiber)).pipe(
              Effect.zipRight(Fiber.interrupt(fiber)),
              Effect.zipRight(Fiber.join(fiber)),
              Effect.flatMap(({ id }) => note(id)),
              Effect.ignore
            )
          ),
          Effect.tap(({ id }) => note(id))
        )
    )
  )

const awaitGrace = (fiber: Fiber.Fiber<unknown, unknown>) => inOwnFiber(Effect.timeoutOption(Fiber.await(fiber), grace))

/** The waits between two looks at a job, in milliseconds. */
const waits = { min: 1000, max: 30_000, growth: 1.5 }

const clamp = (millis: number): number => Math.min(waits.max, Math.max(waits.min, millis))

/** Estimates the seconds that are left: as the service says, else by the time that the done part took. */
export const secondsLeft = ({ percentage_done, time_left_seconds }: Job, elapsedMillis: number): number | undefined =>
  time_left_seconds ??
    (percentage_done !== undefined && percentage_done > 0 && percentage_done <= 100
      ? elapsedMillis / 1000 * (100 - percentage_done) / percentage_done
      : undefined)

/**
 * The wait before the next look, in milliseconds: half of the time that is left, from 1 s to 30 s. Without a change of the job, the
 * wait grows by half each time.
 */
export const nextWait = (left: number | undefined, previous: number, hasChanged: boolean): number => {
  const grown = clamp(previous * waits.growth)
  const half = left === undefined ? grown : clamp(left * 500)
  return hasChanged ? half : Math.max(half, grown)
}

/** The number of failed looks in a row that an export endures. */
const maxFailures = 5

/**
 * The longest wait for a job by default. The service fails an export that takes longer than eight hours; a job that is still pending
 * after nine has been forgotten.
 */
const defaultTimeout = "9 hours"

/** How a wait for a job goes. */
export interface WaitOptions<E> {
  readonly isPassing: (error: E) => boolean
  readonly track: Track
  /** The longest wait (default 9 hours). */
  readonly timeout?: Duration.DurationInput | undefined
  /**
   * `creation`: the time since the service created the job counts as waited for, so that runs one after the other have one limit
   * (default: `wait`).
   */
  readonly countFrom?: "wait" | "creation"
}

/** The milliseconds since the service created a job; 0 if it does not say, or its clock is ahead. */
const ageOf = ({ created_at = "" }: Job): Effect.Effect<number> =>
  Effect.map(Effect.clock, (clock) => Math.max(0, clock.unsafeCurrentTimeMillis() - Date.parse(created_at)) || 0)

/**
 * Waits until a job has ended. Endures passing failures, because the job continues meanwhile. The wait has an end of its own: a status
 * that is neither known to be final nor ever changes is waited for until `timeout`, where a last look is taken.
 */
export const awaitEnd = <E, R>(
  getJob: Effect.Effect<Job, E, R>,
  { countFrom = "wait", isPassing, timeout = defaultTimeout, track }: WaitOptions<E>
): Effect.Effect<Job, E | ExportError, R> =>
  Effect.flatMap(stopwatch, (elapsed) => {
    const look = (wait: number, percentage: number | undefined, failures: number): Effect.Effect<
      Job,
      E | ExportError,
      R
    > =>
      Effect.matchEffect(getJob, {
        onFailure: (error) =>
          isPassing(error) && failures + 1 < maxFailures
            ? Effect.zipRight(Effect.sleep(waits.max), Effect.suspend(() => look(wait, percentage, failures + 1)))
            : Effect.fail(error),
        onSuccess: (job) => {
          const problem = problemOf(job)
          if (problem !== undefined) return problem
          if (statusOf(job) === "completed") return Effect.succeed(job)
          return Effect.flatMap(Effect.zip(elapsed, ageOf(job)), ([millis, age]) => {
            const rest = Duration.toMillis(timeout) - (countFrom === "creation" ? Math.max(millis, age) : millis)
            if (rest <= 0) return timedOut(job, timeout)
            const left = secondsLeft(job, millis)
            const next = nextWait(left, wait, job.percentage_done !== percentage)
            return track({ phase: "waiting", percentage: job.percentage_done, secondsLeft: left }).pipe(
              Effect.zipRight(Effect.sleep(Math.ceil(Math.min(next, rest)))),
              Effect.zipRight(Effect.suspend(() => look(next, job.percentage_done, 0)))
            )
          })
        }
      })
    return look(waits.min, undefined, 0)
  })

/** The status, as documented: elsewhere the service writes the same words in upper case. */
const statusOf = ({ status }: Job): string => status.toLowerCase()

const timedOut = ({ id, percentage_done, status }: Job, timeout: Duration.DurationInput) => {
  const done = percentage_done === undefined ? "" : `, ${percentage_done} % done`
  const message = `the job has not ended in ${Duration.format(timeout)}: its status is ${
    JSON.stringify(status.slice(0, 40))
  }${done}. If it ends later, its id gives the file`
  return new ExportError({ reason: "timeout", message, job: id })
}

/** The final statuses of jobs without a file. */
const problems: Readonly<Record<string, readonly [ExportReason, message: string]>> = {
  failed: ["job-failed", "the job has failed"],
  canceled: ["job-failed", "the job was canceled"],
  cancelled: ["job-failed", "the job was canceled"],
  expired: ["expired", "the job has expired, so it offers no file any more"]
}

const problemOf = (job: Job): ExportError | undefined => {
  const { id, location = "", status_details, type } = job
  if (type !== "users_export") {
    return new ExportError({ reason: "not-an-export", message: "the job exports no users", job: id })
  }
  const status = statusOf(job)
  const [reason, message] = Object.hasOwn(problems, status) ? problems[status] ?? [] : []
  if (reason === undefined) return undefined
  const details = status_details === undefined ? "" : `: ${redact(status_details, [location])}`
  return new ExportError({ reason, message: `${message}${details}`, job: id })
}

/** The link of an ended job: only https, or plain http to this machine. */
export const linkOf = ({ id, location }: Job): Effect.Effect<URL, ExportError> => {
  if (location === undefined) {
    return new ExportError({ reason: "expired", message: "the job has ended, but offers no file any more", job: id })
  }
  const url = URL.canParse(location) ? new URL(location) : undefined
  return url !== undefined && url.username === "" && url.password === "" &&
      (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname)))
    ? Effect.succeed(url)
    : new ExportError({ reason: "unsafe-link", message: "the link to the file is not an https URL", job: id })
}

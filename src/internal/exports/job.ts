/** The job of an export: starts it so that its id is not lost, waits for its end, and gives its link. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { ClaimedCall } from "../call/claim.js"
import { isLoopback } from "../http/baseUrl.js"
import { redact } from "../http/redact.js"
import { inOwnFiber, withoutFailureLogs } from "../runtime/fiber.js"
import { stopwatch } from "../runtime/monotonicClock.js"
import { ExportError } from "./exportError.js"
import type { Track } from "./progress.js"

/** The part of a job that an export needs. */
export interface Job {
  readonly id: string
  readonly type: string
  readonly status: string
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

/** Waits until a job has ended. Endures passing failures, because the job goes on meanwhile. */
export const awaitEnd = <E, R>(
  getJob: Effect.Effect<Job, E, R>,
  isPassing: (error: E) => boolean,
  track: Track
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
          if (job.status === "completed") return Effect.succeed(job)
          return Effect.flatMap(elapsed, (millis) => {
            const left = secondsLeft(job, millis)
            const next = nextWait(left, wait, job.percentage_done !== percentage)
            return track({ phase: "waiting", percentage: job.percentage_done, secondsLeft: left }).pipe(
              Effect.zipRight(Effect.sleep(Duration.millis(next))),
              Effect.zipRight(Effect.suspend(() => look(next, job.percentage_done, 0)))
            )
          })
        }
      })
    return look(waits.min, undefined, 0)
  })

const problemOf = ({ id, location = "", status, status_details, type }: Job): ExportError | undefined => {
  if (type !== "users_export") {
    return new ExportError({ reason: "not-an-export", message: "the job exports no users", job: id })
  }
  if (status !== "failed") return undefined
  const details = status_details === undefined ? "" : `: ${redact(status_details, [location])}`
  return new ExportError({ reason: "job-failed", message: `the job has failed${details}`, job: id })
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

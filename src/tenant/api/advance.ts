/** Moves the state on to a time: jobs end, events are delivered, and versions are deployed. No fiber has to run. */
import * as Duration from "effect/Duration"
import * as Struct from "effect/Struct"
import { failedRound, refused } from "./attempts.js"
import { type Action, type Job, type State, type StreamEvent, type Version } from "./state.js"
import { nanoTimestamp } from "./timestamp.js"

/** The time that the tenant's work takes, on its clock. @since 0.1.0 @category models */
export interface Durations {
  /** From the creation of an export job to its end (default: 2 seconds). The first quarter of it, the job is `pending`. */
  readonly export?: Duration.DurationInput | undefined
  /** From the queueing of an event to its delivery (default: 30 seconds). */
  readonly delivery?: Duration.DurationInput | undefined
  /** From the call that deploys a version until it is live (default: 2 seconds). */
  readonly deployment?: Duration.DurationInput | undefined
}

/** Moves a state on to a time, in milliseconds since 1970. */
export type Advance = (state: State, now: number) => State

const advanceJob = (job: Job, duration: number, now: number): Job => {
  const createdAt = Date.parse(job.created_at)
  const end = createdAt + duration
  const processingAt = createdAt + duration / 4
  if (job.status === "completed" || job.status === "failed") return { ended_at: end, ...job }
  if (now < processingAt) return job
  if (now < end) {
    return {
      ...job,
      status: "processing",
      percentage_done: Math.floor((now - processingAt) / (end - processingAt) * 100),
      time_left_seconds: Math.ceil((end - now) / 1000)
    }
  }
  const ended = { ...Struct.omit(job, "percentage_done", "time_left_seconds"), ended_at: end }
  return job.failure === undefined
    ? { ...ended, status: "completed", percentage_done: 100, time_left_seconds: 0 }
    : { ...ended, status: "failed", status_details: job.failure }
}

const advanceEvent = (event: StreamEvent, duration: number, now: number): StreamEvent => {
  const { attempts = [], failsAgain = 0, queued_at } = event
  if (event.state !== "queued" || queued_at === undefined || queued_at + duration > now) return event
  const tried = Struct.omit(event, "queued_at")
  if (failsAgain === 0) return { ...tried, state: "delivered" }
  const round = failedRound(queued_at + duration, { error: refused, start: queued_at })
  return { ...tried, state: "failed", attempts: [...attempts, ...round], failsAgain: failsAgain - 1 }
}

/** Deploys a version that has been built by then; the others are no longer deployed. */
const deploy = (versions: ReadonlyArray<Version>, id: string, at: string): ReadonlyArray<Version> =>
  versions.map((version) => {
    if (version.id !== id) return version.deployed === true ? { ...version, deployed: false } : version
    return { ...version, status: "built", deployed: true, built_at: at, updated_at: at }
  })

const advanceAction = (action: Action, duration: number, now: number): Action => {
  const { deployments = [] } = action
  const isDue = ({ started_at }: { readonly started_at: number }) => started_at + duration <= now
  const due = deployments.filter(isDue)
  if (due.length === 0) return action
  const versions = due.reduce<ReadonlyArray<Version>>(
    (versions, { started_at, version_id }) => deploy(versions, version_id, nanoTimestamp(started_at + duration)),
    action.versions
  )
  const left = deployments.filter((deployment) => !isDue(deployment))
  return { ...Struct.omit(action, "deployments"), versions, ...(left.length > 0 && { deployments: left }) }
}

/** The time from the queueing of an event to its delivery, in milliseconds. */
export const deliveryMillis = ({ delivery = "30 seconds" }: Durations = {}): number => Duration.toMillis(delivery)

export const make = (durations: Durations = {}): Advance => {
  const exporting = Duration.toMillis(durations.export ?? "2 seconds")
  const delivery = deliveryMillis(durations)
  const deployment = Duration.toMillis(durations.deployment ?? "2 seconds")
  return (state, now) => ({
    ...state,
    jobs: state.jobs.map((job) => advanceJob(job, exporting, now)),
    actions: state.actions.map((action) => advanceAction(action, deployment, now)),
    streams: state.streams.map((stream) => ({
      ...stream,
      events: stream.events.map((event) => advanceEvent(event, delivery, now))
    }))
  })
}

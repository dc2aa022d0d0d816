/** Views of the tenant's state for the page: plain data of limited size. */
import * as Duration from "effect/Duration"
import { failures } from "../api/attempts.js"
import type { Job, State, Stream, StreamEvent } from "../api/state.js"
import type { PendingFault } from "../server/faults.js"
import type { IssuedToken } from "../server/tokens.js"
import {
  type EventView,
  faultLimits,
  type FaultView,
  type JobView,
  type Snapshot,
  type Some,
  type StreamView,
  type TokenView
} from "./http/schemas.js"

/** The number of tokens, jobs, streams, and events of a stream that are shown. */
const maxItems = 100
const maxAttempts = 20

/** The newest of a list that has the oldest first; the newest first. */
const newest = <A, View>(all: ReadonlyArray<A>, view: (item: A) => View): Some<View> => ({
  items: all.slice(-maxItems).toReversed().map(view),
  total: all.length
})

export const tokenView = ({ client, expiresAt, id, issuedAt, revoked }: IssuedToken): TokenView => ({
  id,
  client: client.id,
  scopes: client.scopes,
  issuedAt,
  expiresAt,
  revoked
})

export const tokensView = (tokens: ReadonlyArray<IssuedToken>): Some<TokenView> => newest(tokens, tokenView)

const jobView = (job: Job): JobView => ({
  id: job.id,
  type: job.type,
  status: job.status,
  percentageDone: job.percentage_done ?? (job.status === "completed" ? 100 : 0),
  timeLeftSeconds: job.time_left_seconds ?? null,
  createdAt: Date.parse(job.created_at),
  endedAt: job.status === "completed" || job.status === "failed" ? job.ended_at ?? null : null,
  connection: job.connection ?? null,
  format: job.format ?? null,
  details: job.status_details ?? null
})

const eventView = (event: StreamEvent, deliveryMillis: number): EventView => ({
  id: event.id,
  type: event.event_type ?? "user.created",
  state: event.state,
  queuedAt: event.queued_at ?? null,
  dueAt: event.state === "queued" && event.queued_at !== undefined ? event.queued_at + deliveryMillis : null,
  failsAgain: limitTimes(event.failsAgain ?? 0),
  attempts: failures(event).slice(-maxAttempts).map(({ error_message, timestamp }) => ({
    time: Date.parse(timestamp),
    error: error_message ?? null
  }))
})

const streamView = (stream: Stream, deliveryMillis: number): StreamView => {
  const inState = (state: StreamEvent["state"]) => stream.events.filter((event) => event.state === state)
  const [failed, queued, delivered] = [inState("failed"), inState("queued"), inState("delivered")]
  const shown = [...failed, ...queued, ...delivered].slice(0, maxItems)
  return {
    id: stream.id,
    name: stream.name ?? null,
    enabled: stream.status !== "disabled",
    destination: stream.destination?.type ?? null,
    failed: failed.length,
    queued: queued.length,
    delivered: delivered.length,
    events: { items: shown.map((event) => eventView(event, deliveryMillis)), total: stream.events.length }
  }
}

/** A number of calls, as JSON and the control interface have it: a program may set any. */
export const limitTimes = (times: number): number => Math.min(faultLimits.times, Math.ceil(times))

/** A delay in milliseconds, as above. */
export const limitDelay = (delay: Duration.DurationInput): number =>
  Math.min(faultLimits.delay, Duration.toMillis(delay))

export const faultView = ({ fault, id, left }: PendingFault): FaultView => ({
  id,
  operation: fault.operation ?? null,
  times: limitTimes(fault.times ?? 1),
  left: limitTimes(left),
  status: fault.status ?? null,
  delay: limitDelay(fault.delay ?? 0),
  cut: fault.cut ?? null,
  carriedOut: fault.carriedOut ?? false
})

/** The parts of a snapshot that come from the state. */
export const stateViews = (
  { actions, connections, jobs, profiles, streams, users }: State,
  deliveryMillis: number
): Pick<Snapshot, "jobs" | "streams" | "counts"> => ({
  jobs: newest(jobs, jobView),
  streams: {
    items: streams.slice(0, maxItems).map((stream) => streamView(stream, deliveryMillis)),
    total: streams.length
  },
  counts: {
    connections: connections.length,
    actions: actions.length,
    profiles: profiles.length,
    users: typeof users === "function" ? null : users.length
  }
})

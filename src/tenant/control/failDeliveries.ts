/** Lets deliveries of events fail: a pure function from the state to the next one. */
import * as Struct from "effect/Struct"
import { failedRound, refused } from "../api/attempts.js"
import { type State, type StreamEvent, upsert } from "../api/state.js"
import type { FailDeliveriesInput, Refusal } from "./http/schemas.js"

const invalid = (field: string, message: string): Refusal => ({ status: 400, message: `${field}: ${message}`, field })

const fail = (
  event: StreamEvent,
  { error = refused }: FailDeliveriesInput,
  now: number
) => {
  const round = failedRound(now, { error, start: event.queued_at })
  return { ...Struct.omit(event, "queued_at"), state: "failed", attempts: [...event.attempts ?? [], ...round] } as const
}

/** Gives the number of events that are changed, and the state; or the refusal of a stream or an event that does not exist. */
export const failDeliveries = (
  state: State,
  input: FailDeliveriesInput,
  now: number
): readonly [changed: number, state: State] | Refusal => {
  const { events, stream: streamId, times = 0 } = input
  const streams = state.streams.filter(({ id }) => streamId === undefined || id === streamId)
  if (streamId !== undefined && streams.length === 0) return invalid("stream", "there is no such stream")
  const known = new Set(streams.flatMap(({ events }) => events.map(({ id }) => id)))
  const unknown = events?.findIndex((id) => !known.has(id)) ?? -1
  if (unknown >= 0) return invalid(`events[${unknown}]`, "there is no such event")
  let changed = 0
  const next = streams.map((stream) => ({
    ...stream,
    events: stream.events.map((event) => {
      const isNamed = events?.includes(event.id) === true
      if (events !== undefined ? !isNamed : event.state === "delivered") return event
      const failsNow = isNamed || event.state === "queued"
      if (!failsNow && times === 0) return event
      changed++
      return { ...failsNow ? fail(event, input, now) : event, ...(times > 0 && { failsAgain: times }) }
    })
  }))
  return [changed, { ...state, streams: upsert(state.streams, next) }]
}

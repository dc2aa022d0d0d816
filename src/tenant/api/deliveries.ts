/** The behaviour of the deliveries of events: those that failed, and redelivery. */
import * as Encoding from "effect/Encoding"
import { failure, type PlainResponse } from "../server/response.js"
import { failures, retrying } from "./attempts.js"
import { type Handlers, invalidQuery, notFound } from "./operationHandler.js"
import { defaultTake } from "./paging.js"
import { type State, type Stream, type StreamEvent, upsert } from "./state.js"

const noStream = notFound("requested stream")
const disabled = failure(409, "The stream is disabled.")

/** Selects failed deliveries. */
interface Filter {
  readonly date_from?: string | undefined
  readonly date_to?: string | undefined
  readonly event_types?: ReadonlyArray<string> | undefined
}

const typeOf = ({ event_type = "user.created" }: StreamEvent): string => event_type

/** A delivery that was accepted again counts as failed until it has succeeded. */
const isFailed = (event: StreamEvent): boolean =>
  event.state === "failed" || (event.state === "queued" && failures(event).length > 0)

/** Checks that the last attempt failed within the times, and that the type is one of the given. */
const matches = ({ date_from, date_to, event_types }: Filter) => (event: StreamEvent): boolean => {
  const failedAt = Date.parse(failures(event).at(-1)?.timestamp ?? "")
  return isFailed(event) &&
    (event_types === undefined || event_types.includes(typeOf(event))) &&
    (date_from === undefined || failedAt >= Date.parse(date_from)) &&
    (date_to === undefined || failedAt < Date.parse(date_to))
}

const delivery = (stream: Stream, event: StreamEvent): object => {
  const { attempts = [], id } = event
  const [first] = attempts
  return {
    id,
    event_stream_id: stream.id,
    status: "failed",
    event_type: typeOf(event),
    attempts: attempts.map((attempt) => ({ status: "failed", ...attempt })),
    event: {
      id,
      source: "urn:auth0:tenant.example.com",
      specversion: "1.0",
      type: typeOf(event),
      time: first?.timestamp,
      data: { object: { user_id: `auth0|${id.slice(4)}` } },
      a0tenant: "tenant.example.com",
      a0stream: stream.id
    }
  }
}

/** The checkpoint after a delivery. It is no id, so that no client takes one for the other. */
const checkpointAfter = (id: string): string => Encoding.encodeBase64Url(`after ${id}`)

/** Queues the failed events among these. */
const queue = (state: State, stream: Stream, events: ReadonlyArray<StreamEvent>, now: number): State => {
  const queued = events.filter(({ state }) => state === "failed").map((event): StreamEvent => ({
    ...event,
    state: "queued",
    queued_at: now,
    attempts: [...event.attempts ?? [], retrying(now)]
  }))
  return { ...state, streams: upsert(state.streams, [{ ...stream, events: upsert(stream.events, queued) }]) }
}

const listOf = (commaSeparated: string | undefined): ReadonlyArray<string> | undefined =>
  commaSeparated?.split(",").map((item) => item.trim())

/** The 400 for a query that the schemas let pass. */
const invalid = (
  { date_from, date_to, statuses }: Filter & { readonly statuses?: string | undefined }
): PlainResponse | undefined => {
  if (listOf(statuses)?.some((status) => status !== "failed")) return invalidQuery("statuses", "Expected \"failed\"")
  const [bad] =
    Object.entries({ date_from, date_to }).find(([, date]) => date !== undefined && Number.isNaN(Date.parse(date))) ??
      []
  return bad === undefined ? undefined : invalidQuery(bad, "Expected a date and time")
}

export const deliveryHandlers: Handlers<"redeliverEvent" | "listDeliveries" | "getDelivery" | "redeliverEvents"> = {
  redeliverEvent: {
    status: 202,
    run: ({ input, now, success }, state) => {
      const stream = state.streams.find(({ id }) => id === input.id)
      const event = stream?.events.find(({ id }) => id === input.event_id)
      if (stream === undefined) return [noStream, state]
      if (event === undefined) return [notFound("requested event"), state]
      if (event.state !== "failed") {
        return [failure(409, "The event is not in a state that allows redelivery."), state]
      }
      return stream.status === "disabled" ? [disabled, state] : [success({}), queue(state, stream, [event], now)]
    }
  },

  listDeliveries: {
    status: 200,
    run: ({ input, success }, state) => {
      const { date_from, date_to, event_types, from, take = defaultTake } = input
      const stream = state.streams.find(({ id }) => id === input.id)
      const refusal = invalid({ ...input, event_types: undefined })
      if (refusal !== undefined) return [refusal, state]
      if (stream === undefined) return [noStream, state]
      // The event may be delivered by now: the page begins after its place among all events.
      const place = from === undefined ? -1 : stream.events.findIndex(({ id }) => checkpointAfter(id) === from)
      if (from !== undefined && place < 0) return [invalidQuery("from", "The checkpoint does not exist"), state]
      const page = stream.events.slice(place + 1)
        .filter(matches({ date_from, date_to, event_types: listOf(event_types) }))
        .slice(0, take)
      const last = page.at(-1)
      // As recorded, also a short page names a next one: the end is an empty page.
      const next = last === undefined ? {} : { next: checkpointAfter(last.id) }
      return [success({ deliveries: page.map((event) => delivery(stream, event)), ...next }), state]
    }
  },

  getDelivery: {
    status: 200,
    run: ({ input, success }, state) => {
      const stream = state.streams.find(({ id }) => id === input.id)
      const event = stream?.events.find((event) => event.id === input.event_id && isFailed(event))
      if (stream === undefined) return [noStream, state]
      return [event === undefined ? notFound("requested delivery") : success(delivery(stream, event)), state]
    }
  },

  redeliverEvents: {
    status: 202,
    run: ({ input: { id: streamId, ...filter }, now, success }, state) => {
      const stream = state.streams.find(({ id }) => id === streamId)
      if (stream === undefined) return [noStream, state]
      if (stream.status === "disabled") return [disabled, state]
      return [success(filter), queue(state, stream, stream.events.filter(matches(filter)), now)]
    }
  }
}

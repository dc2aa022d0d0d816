/** The behaviour of the deliveries of events: those that failed, and redelivery. */
import { failure, type PlainResponse } from "../server/response.js"
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

/** Checks that the last attempt failed within the times, and that the type is one of the given. */
const matches = ({ date_from, date_to, event_types }: Filter) => (event: StreamEvent): boolean => {
  const failedAt = Date.parse(event.attempts?.at(-1)?.timestamp ?? "")
  return event.state === "failed" &&
    (event_types === undefined || event_types.includes(typeOf(event))) &&
    (date_from === undefined || failedAt >= Date.parse(date_from)) &&
    (date_to === undefined || failedAt <= Date.parse(date_to))
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
    event: { id, source: "urn:tenant", specversion: "1.0", type: typeOf(event), time: first?.timestamp }
  }
}

/** Queues the events of a stream. */
const queue = (state: State, stream: Stream, events: ReadonlyArray<StreamEvent>, now: number): State => {
  const queued = events.map((event): StreamEvent => ({ ...event, state: "queued", queued_at: now }))
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
      // The event may be queued by now: the page begins after its place among all events.
      const place = from === undefined ? -1 : stream.events.findIndex(({ id }) => id === from)
      if (from !== undefined && place < 0) return [invalidQuery("from", "The checkpoint does not exist"), state]
      const failed = stream.events.slice(place + 1)
        .filter(matches({ date_from, date_to, event_types: listOf(event_types) }))
      return [success(failed.slice(0, take).map((event) => delivery(stream, event))), state]
    }
  },

  getDelivery: {
    status: 200,
    run: ({ input, success }, state) => {
      const stream = state.streams.find(({ id }) => id === input.id)
      const event = stream?.events.find(({ id, state }) => id === input.event_id && state === "failed")
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

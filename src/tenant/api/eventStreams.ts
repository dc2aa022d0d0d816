/** The behaviour of event streams, their deliveries apart. */
import * as Predicate from "effect/Predicate"
import * as Struct from "effect/Struct"
import { type Handlers, notFound } from "./operationHandler.js"
import { keysetPage } from "./paging.js"
import type { Stream } from "./state.js"

/** A destination as responses show it: webhooks have an authorization, and no secrets. */
const publicDestination = ({ configuration, type }: NonNullable<Stream["destination"]>): object => {
  if (type !== "webhook") return { type, configuration }
  const { webhook_authorization: given } = configuration
  const authorization = Predicate.isReadonlyRecord(given) ? given : { method: "bearer" }
  return {
    type,
    configuration: {
      ...configuration,
      webhook_authorization: Struct.omit(authorization, "token", "password", "header_value")
    }
  }
}

const publicStream = (stream: Stream): object => ({
  status: "enabled",
  ...Struct.omit(stream, "events"),
  ...(stream.destination && { destination: publicDestination(stream.destination) })
})

export const eventStreamHandlers: Handlers<"listEventStreams" | "getEventStream" | "deleteEventStream"> = {
  listEventStreams: {
    status: 200,
    run: ({ input, success }, state) => {
      const { next, page } = keysetPage(state.streams, input)
      return [success({ eventStreams: page.map(publicStream), next }), state]
    }
  },

  getEventStream: {
    status: 200,
    run: ({ input, success }, state) => {
      const stream = state.streams.find(({ id }) => id === input.id)
      return [stream === undefined ? notFound("requested stream") : success(publicStream(stream)), state]
    }
  },

  deleteEventStream: {
    status: 204,
    run: ({ input, success }, state) => [
      success(),
      { ...state, streams: state.streams.filter(({ id }) => id !== input.id) }
    ]
  }
}

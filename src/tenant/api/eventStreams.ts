/** The behaviour of event streams, their deliveries apart. */
import * as Struct from "effect/Struct"
import { type Handlers, notFound } from "./operationHandler.js"
import { keysetPage } from "./paging.js"
import type { Stream } from "./state.js"

const publicStream = (stream: Stream): object => ({ status: "enabled", ...Struct.omit(stream, "events") })

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

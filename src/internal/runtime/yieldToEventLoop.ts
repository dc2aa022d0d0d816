/** Yields to the event loop, which runs all fibers. */
import * as Effect from "effect/Effect"

/** Taken when this module loads: a test may replace it later by a timer that stands still. */
const setImmediate = globalThis.setImmediate as typeof globalThis.setImmediate | undefined // sound: some runtimes lack it

/**
 * Lets requests that other fibers have begun leave before this fiber goes on, which may not pause for long: Node's sockets
 * send in the next iteration of the event loop. Without `setImmediate` it only yields to other fibers.
 */
export const yieldToEventLoop: Effect.Effect<void> = /* @__PURE__ */ Effect.zipRight(
  /* @__PURE__ */ Effect.yieldNow(),
  setImmediate === undefined
    ? Effect.void
    : /* @__PURE__ */ Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
)

/** Yields to the event loop, which runs all fibers. */
import * as Effect from "effect/Effect"

/** Kept at load time: fake timers may replace it later. */
const setImmediate = globalThis.setImmediate as typeof globalThis.setImmediate | undefined // sound: some runtimes lack it

/**
 * Lets sockets write requests that other fibers have started before this fiber continues. Without `setImmediate` it only
 * yields to other fibers.
 */
export const yieldToEventLoop: Effect.Effect<void> = /* @__PURE__ */ Effect.zipRight(
  /* @__PURE__ */ Effect.yieldNow(),
  setImmediate === undefined
    ? Effect.void
    : /* @__PURE__ */ Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
)

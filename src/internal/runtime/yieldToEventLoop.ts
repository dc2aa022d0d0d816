/** The event loop that runs all fibers. */
import * as Effect from "effect/Effect"

/** As it is when this is loaded: timers that a test puts in its place later may stand still. */
const immediate = globalThis.setImmediate as typeof setImmediate | undefined // sound: it is not everywhere

/**
 * Lets what other fibers have begun go out, before this one goes on and may not pause for long: a socket of Node's sends in
 * the next turn of the event loop. Where there is no `setImmediate`, only other fibers are waited for.
 */
export const yieldToEventLoop: Effect.Effect<void> = /* @__PURE__ */ Effect.zipRight(
  /* @__PURE__ */ Effect.yieldNow(),
  immediate === undefined
    ? Effect.void
    : /* @__PURE__ */ Effect.async<void>((resume) => void immediate(() => resume(Effect.void)))
)

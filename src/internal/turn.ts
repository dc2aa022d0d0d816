/** The turns of the event loop. */
import * as Effect from "effect/Effect"

/**
 * Lets what other fibers have begun go out, before this one goes on and may not pause for long: a socket of Node's sends in
 * the next turn of the event loop. Where turns cannot be told apart, nothing is waited for but the other fibers.
 */
export const pass: Effect.Effect<void> = /* @__PURE__ */ Effect.zipRight(
  /* @__PURE__ */ Effect.yieldNow(),
  /* @__PURE__ */ Effect.async<void>((resume) => {
    if ("setImmediate" in globalThis) setImmediate(() => resume(Effect.void))
    else resume(Effect.void)
  })
)

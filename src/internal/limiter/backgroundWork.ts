/** The setting of `RateLimiter.withBackground`, which limiters and the retry budget read. */
import { makeSetting } from "../runtime/fiber.js"

/** Marks calls as background work. */
export const isBackgroundWork = /* @__PURE__ */ makeSetting("RateLimiter/isBackground", () => false)

/** Streams that are read page by page or folded, latches, and clients by key. */
import { rules } from "../convert/rules.js"

export default rules({
  names: {
    "effect/Stream": {
      flattenIterables: "flattenIterable",
      paginateChunkEffect: "paginate"
    }
  },
  calls: {
    "effect/Stream": {
      // The beginning is made anew for each run.
      runFold: ({ args }, c) => {
        const texts = args.map((arg) => c.text(arg))
        const initial = texts.length - 2
        return `${c.name("effect/Stream", "runFold")}(${
          texts.map((text, index) => index === initial ? `() => (${text})` : text).join(", ")
        })`
      }
    }
  },
  members: {
    "effect/Effect#Latch": { unsafeClose: "closeUnsafe", unsafeOpen: "openUnsafe" }
  }
})

/** Causes and exits. A cause of Effect 4 is a list of reasons. */
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

const reasons = (guard: string, member: string) => ({ args: [cause] }: Call, c: File): string | undefined =>
  cause && `${c.text(cause)}.reasons.filter(${c.name("effect/Cause", guard)}).map(({ ${member} }) => ${member})`

export default rules({
  calls: {
    "effect/Cause": {
      defects: reasons("isDieReason", "defect"),
      failures: reasons("isFailReason", "error"),
      isEmpty: ({ args: [cause] }, c) => cause && `${c.text(cause)}.reasons.length === 0`
    },
    "effect/Exit": {
      fromEither: ({ args: [either] }, c) =>
        either &&
        `${c.name("effect/Result", "match")}(${c.text(either)}, { onFailure: ${
          c.name("effect/Exit", "fail")
        }, onSuccess: ${c.name("effect/Exit", "succeed")} })`
    },
    "effect/Deferred": {
      unsafeMake: ({ typeArgs }, c) =>
        `${c.name("effect/Deferred", "makeUnsafe")}${typeArgs.length === 0 ? "" : `<${c.texts(typeArgs)}>`}()`
    }
  }
})

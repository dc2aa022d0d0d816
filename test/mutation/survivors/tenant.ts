import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why: "asked for by the types: every operation has an example, and a test holds them to it",
    faults: {
      "src/tenant/docs/openapi.ts": ["example._tag === \"Some\" ⇒ true", "[] ⇒ [\"Stryker was here\"]"]
    }
  },
  {
    why: "at present no list in a schema holds what has to go",
    faults: {
      "src/tenant/docs/openapi.ts": ["Array.isArray(value) ⇒ false"]
    }
  },
  {
    why: "the same as JSON, which has no undefined",
    faults: {
      "src/tenant/docs/openapi.ts": ["value !== undefined ⇒ true"]
    }
  },
  {
    why: "asked for by the types: without a time, the comparison is with NaN, and without a body there is none to read",
    faults: {
      "src/tenant/server/inProcessClient.ts": [
        "case \"Empty\": return Effect.succeed(undefined) ⇒ case \"Empty\":",
        "\"Empty\" ⇒ \"\""
      ],
      "src/tenant/api/state.ts": ["event.queued_at !== undefined ⇒ true"]
    }
  },
  {
    why: "the same for any input: what is put there is neither looked for nor looked at",
    faults: {
      // A member without a name; a value as good as the empty one; whatever is not open is closed.
      "src/tenant/server/formDecoding.ts": ["[] ⇒ [\"Stryker was here\"]"],
      "src/tenant/server/faults.ts": ["\"\" ⇒ \"Stryker was here!\""],
      "src/tenant/docs/openapi.ts": ["\"closed\" ⇒ \"\"", "\"closed\" ⇒ \"\""]
    }
  },
  {
    why:
      "the same but for a bucket that lacks one call to within a rounding error: a part in 1e9 is added so that it never is",
    faults: {
      "src/tenant/server/tokenBucket.ts": ["left >= 1 ⇒ left > 1"]
    }
  }
]

import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why:
      "asked for by the types: the client sends bytes or nothing, and undici takes no body and `undefined` for the same",
    faults: {
      "src/node/undiciDispatcher.ts": ["body._tag === \"Uint8Array\" ⇒ true"]
    }
  },
  {
    why: "asked for by the types: in a handler of undici the head comes before the body",
    faults: {
      "src/node/undiciDispatcher.ts": [
        "this.head === undefined ⇒ false"
      ]
    }
  },
  {
    why: "asked for by the types: what is no number is not finite either",
    faults: {
      "src/internal/token/clientCredentials.ts": ["typeof number === \"number\" ⇒ true"]
    }
  },
  {
    why: "asked for by the types: the platform always gives this header, and undici throws nothing but errors",
    faults: {
      "src/internal/telemetry/spans.ts": ["\"\" ⇒ \"Stryker was here!\""],
      "src/node/undiciClient.ts": ["\"expected undici's options\" ⇒ \"\""]
    }
  },
  {
    why: "asked for by the types: a token may be asked for again either way, so that nobody looks at this outcome",
    faults: {
      "src/internal/token/clientCredentials.ts": [
        "\"unknown\" ⇒ \"\"",
        "\"unknown\" ⇒ \"\"",
        "{ outcome: \"unknown\", code: undefined } ⇒ {}"
      ]
    }
  },
  {
    why: "the same: it stands for a text that is not there, and nothing can be read from either",
    faults: {
      "src/internal/token/clientCredentials.ts": ["\"\" ⇒ \"Stryker was here!\"", "\"\" ⇒ \"Stryker was here!\""]
    }
  },
  {
    why: "the same: the heap says where in it an entry is",
    faults: {
      "src/internal/runtime/timeouts.ts": ["-1 ⇒ +1"]
    }
  },
  {
    why: "the same: in the name of a host brackets stand at its ends alone",
    faults: {
      "src/internal/telemetry/spans.ts": ["/^\\[|\\]$/g ⇒ /\\[|\\]$/g", "/^\\[|\\]$/g ⇒ /^\\[|\\]/g"]
    }
  },
  {
    why: "the same: undici is told why an exchange is ended, but nobody whom it tells in turn listens any more",
    faults: {
      "src/node/undiciDispatcher.ts": ["\"stopped\" ⇒ \"\""]
    }
  },
  {
    why: "the same: what does not ask for the code asks for the tag",
    faults: {
      "src/internal/telemetry/callTelemetry.ts": [
        "\"_tag\" ⇒ \"\"",
        "\"_tag\" ⇒ \"\"",
        "\"_tag\" ⇒ \"\"",
        "\"_tag\" ⇒ \"\""
      ]
    }
  },
  {
    why: "the same: what comes after the end is kept, but never looked at",
    faults: {
      "src/node/undiciDispatcher.ts": ["[] ⇒ [\"Stryker was here\"]"]
    }
  },
  {
    why: "only spares time: the bytes of a body are the same on the desk as beside it, as text or not",
    faults: {
      "src/node/undiciDispatcher.ts": [
        "size <= desk.length ⇒ false",
        "size <= desk.length ⇒ true",
        "size <= desk.length ⇒ size < desk.length",
        "1024 * 1024 ⇒ 1024 / 1024",
        "isAscii(bytes) ⇒ false",
        "end === \"whole\" ⇒ false",
        "\"whole\" ⇒ \"\""
      ]
    }
  },
  {
    why: "only spares memory: a pool that has gone is destroyed once more, to no effect",
    faults: {
      "src/node/undiciClient.ts": ["pool.destroyed ⇒ false"]
    }
  },
  {
    why: "only spares time: a note for debugging that the log does not take is not made up",
    faults: {
      "src/internal/telemetry/logs.ts": [
        "fiber.getFiberRef(FiberRef.currentMinimumLogLevel).ordinal < … evel.Debug.ordinal ⇒ true"
      ],
      "src/internal/telemetry/callTelemetry.ts": ["this.isDebugged ⇒ true", "this.isDebugged ⇒ true"]
    }
  },
  {
    why: "only spares time: the registry of metrics gives the one of before when it is asked again",
    faults: {
      "src/internal/telemetry/metrics.ts": ["metric === undefined ⇒ true"]
    }
  }
]

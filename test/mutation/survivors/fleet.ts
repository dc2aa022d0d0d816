import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why: "asked for by the types: a text that is split has a first part",
    faults: {
      "src/internal/fleet/encryption.ts": ["first === undefined ⇒ false", "\"\" ⇒ \"Stryker was here!\""]
    }
  },
  {
    why: "the same for any input: no bytes are made of nothing, and what is not a number is above zero or below",
    faults: {
      "src/internal/fleet/encryption.ts": ["() => new Uint8Array() ⇒ () => undefined"],
      "src/internal/fleet/saved.ts": ["value > 0 ⇒ value >= 0"]
    }
  },
  {
    why: "the same: why it fails is looked at by nobody, and without a key nothing is opened either",
    faults: {
      "src/internal/fleet/encryption.ts": ["\"sealed\" ⇒ \"\"", "\"no such key\" ⇒ \"\"", "key === undefined ⇒ false"],
      "src/SharedStore.ts": ["() => \"no time\" ⇒ () => undefined", "\"no time\" ⇒ \"\"", "\"late\" ⇒ \"\""]
    }
  },
  {
    why: "only a second guard: nobody is given the key, so that nobody could take it out",
    faults: { "src/internal/fleet/encryption.ts": ["false ⇒ true"] }
  },
  {
    why: "the same: it only has to be unlike the others",
    faults: {
      "src/SharedStore.ts": ["++written ⇒ --written"]
    }
  },
  {
    why: "asked for by the types: nobody comes to the store before a call has come to the gate",
    faults: {
      "src/internal/fleet/limiter.ts": [
        "gate === undefined ⇒ false",
        "this.host.gate?.waiting ⇒ this.host.gate.waiting",
        "this.host.gate?.wake ⇒ this.host.gate.wake",
        "true ⇒ false" // what all that leave give is thrown away
      ]
    }
  },
  {
    why: "it matters at one moment alone, where the one is as good as the other",
    faults: {
      "src/internal/fleet/limiter.ts": [
        "this.at > now ⇒ this.at >= now",
        "this.at - now < time.skew ⇒ this.at - now <= time.skew",
        "this.alarm.now() < this.dueAt ⇒ this.alarm.now() <= this.dueAt",
        "this.notBefore > this.alarm.now() ⇒ this.notBefore >= this.alarm.now()",
        "seen > now - time.life ⇒ seen >= now - time.life",
        "since <= this.since ⇒ since < this.since",
        "(this.heldAt.get(lane) ?? -Infinity) >= since ⇒ (this.heldAt.get(lane) ?? -Infinity) > since",
        "this.alarm.now() - began > (isLast ? time.leave : store.patience) ⇒ this.alarm.now() - began >= (isLast ? time.leave : store.patience)"
      ]
    }
  },
  {
    why: "the same: what is so far ahead is a clock that was set back, or it only has to be another than before",
    faults: {
      "src/internal/fleet/limiter.ts": [
        "-Infinity ⇒ +Infinity",
        "false ⇒ true", // a call that is never answered is never looked at either
        "this.era++ ⇒ this.era--",
        "one.nth < other.nth ⇒ one.nth <= other.nth"
      ]
    }
  },
  {
    why: "the same: nothing has gone, nothing is kept while the store is away, and who waits for nothing has no turn",
    faults: {
      "src/internal/fleet/limiter.ts": ["gone.length === 0 ⇒ false", "this.isApart ⇒ false", "waiting === 0 ⇒ false"]
    }
  },
  {
    why:
      "the same: the script knows only `get`, with no version after it, and `remove`; what it has set is there; what is no list of its has no time either way",
    faults: {
      "src/Redis.ts": [
        "\"get\" ⇒ \"\"",
        "\"set\" ⇒ \"\"",
        "answer.entry !== undefined ⇒ true",
        "[] ⇒ [\"Stryker was here\"]"
      ]
    }
  },
  {
    why: "how soon a connection that was lost is made again: it is made in any case, and no test measures time",
    faults: { "src/Redis.ts": ["Math.min(50 * times, 500) ⇒ Math.max(50 * times, 500)", "50 * times ⇒ 50 / times"] }
  },
  {
    why:
      "only a second guard: where nothing is tried again, the calls that a lost connection leaves are failed, and none is kept",
    faults: { "src/Redis.ts": ["false ⇒ true"] }
  },
  {
    why: "the same: what was just put there has a version",
    faults: { "src/internal/fleet/limiter.ts": ["entry?.version ⇒ entry.version"] }
  },
  {
    why: "the same: in the protocol of a URL a colon stands at its end alone",
    faults: { "src/Redis.ts": ["/^rediss?:$/ ⇒ /^rediss?:/"] }
  },
  {
    why: "the same: what is not there is neither removed nor taken back; of two tokens of one moment each is as good",
    faults: {
      "src/internal/fleet/token.ts": [
        "entry?.version ⇒ entry.version",
        "kept?.token ⇒ kept.token",
        "other.requestedAt <= kept.requestedAt ⇒ other.requestedAt < kept.requestedAt"
      ]
    }
  },
  {
    why: "the same: what lacks a part is not opened, whatever stands for it",
    faults: { "src/internal/fleet/encryption.ts": ["\"\" ⇒ \"Stryker was here!\"", "\"\" ⇒ \"Stryker was here!\""] }
  },
  {
    why: "the same: the calls that are left to the others are told nothing",
    faults: { "src/internal/fleet/limiter.ts": ["false ⇒ true"] }
  },
  {
    why: "the same: a store that has failed is not asked at once again",
    faults: { "src/internal/fleet/limiter.ts": ["this.isApart ⇒ false"] }
  }
]

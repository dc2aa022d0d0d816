import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why: "asked for by the types: a text that is split has a first part",
    faults: {
      "src/internal/seal.ts": ["first === undefined ⇒ false", "\"\" ⇒ \"Stryker was here!\""]
    }
  },
  {
    why: "the same for any input: no bytes are made of nothing, and what is not a number is above zero or below",
    faults: {
      "src/internal/seal.ts": ["() => new Uint8Array() ⇒ () => undefined"],
      "src/internal/saved.ts": ["value > 0 ⇒ value >= 0"]
    }
  },
  {
    why: "the same: why it fails is looked at by nobody, and without a key nothing is opened either",
    faults: {
      "src/internal/seal.ts": ["\"sealed\" ⇒ \"\"", "\"no such key\" ⇒ \"\"", "key === undefined ⇒ false"],
      "src/SharedStore.ts": ["() => \"no time\" ⇒ () => undefined", "\"no time\" ⇒ \"\"", "\"late\" ⇒ \"\""]
    }
  },
  {
    why: "only a second guard: nobody is given the key, so that nobody could take it out",
    faults: { "src/internal/seal.ts": ["false ⇒ true"] }
  },
  {
    why: "the same: it only has to be unlike the others",
    faults: {
      "src/SharedStore.ts": ["++written ⇒ --written", "\"effect-identity-client/SharedStore\" ⇒ \"\""]
    }
  }
]

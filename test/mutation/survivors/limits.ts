import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why: "the same for any input: no two that wait have one number, and who is taken out of a line is in it",
    faults: {
      "src/internal/gate.ts": [
        "one.nth < other.nth ⇒ one.nth <= other.nth",
        "before.next !== undefined ⇒ true"
      ]
    }
  },
  {
    why: "the same for any input: there is one lane, and it goes before no other",
    faults: { "src/internal/known.ts": ["false ⇒ true"] }
  },
  {
    why: "only spares memory: a reader that has gone hears nothing, whether it is told or not",
    faults: { "src/internal/news.ts": ["() => readers.delete(read) ⇒ () => undefined"] }
  },
  {
    why: "it matters at exactly 50 ms alone, where the one is as good as the other",
    faults: {
      "src/internal/belief.ts": [
        "span > gap ⇒ span >= gap",
        "now - (this.marks.at(-1)?.endedAt ?? -Infinity) < gap ⇒ now - (this.marks.at(-1)?.endedAt ?? -Infinity) <= gap"
      ]
    }
  },
  {
    why: "only spares room: to have been alike no times is the same as never to have been compared",
    faults: {
      "src/internal/sharing.ts": [
        "times > 0 ⇒ true",
        "times > 0 ⇒ times >= 0",
        "Array.from(tenant.buckets, (other) => [other.id, bucket.like … es]) => times > 0) ⇒ Array.from(tenant.buckets, other => [other.id, bucket.likene … r) ?? 0] as const)"
      ]
    }
  }
]

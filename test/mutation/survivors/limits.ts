import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why: "only speed: a shorter way to the same where nobody waits, or where no call may wait too long",
    faults: {
      "src/internal/limiter/queue.ts": [
        "waiting === 0 ⇒ false",
        "waiting === 0 ⇒ false",
        "{ alarm.clear() return changed() } ⇒ {}",
        "maxWait < Infinity ⇒ true",
        "maxWait < Infinity ⇒ maxWait <= Infinity",
        "waiting-- ⇒ waiting++",
        "hasLeft ⇒ false",
        "waiting++ ⇒ waiting--",
        "millis <= 0 ⇒ millis < 0",
        "millis <= 0 && waiting === 0 ⇒ false",
        "{ letIn(call, source.start(lane, now, false), fiber) changed … turn Effect.void } ⇒ {}"
      ],
      "src/internal/limiter/rateLimitHeaders.ts": ["share === 0 ⇒ false"]
    }
  },
  {
    why: "asked for by the types: without it the comparison is with NaN, or with undefined, and as false",
    faults: {
      "src/internal/limiter/rateLimitHeaders.ts": [
        "reset === undefined ⇒ false",
        "limit !== undefined ⇒ true",
        "ahead !== undefined ⇒ true"
      ]
    }
  },
  {
    why: "the same for any input: nobody asks a known limit for a pause, and undefined goes for false",
    faults: { "src/internal/limiter/fixed.ts": ["() => 0 ⇒ () => undefined", "() => false ⇒ () => undefined"] }
  },
  {
    why:
      "the same for any input: what is published is no value, so the first that waits to be read is as good as the last",
    faults: { "src/internal/limiter/news.ts": ["\"sliding\" ⇒ \"\""] }
  },
  {
    why:
      "the same for any input: where no room is missing the wait is 0, and going back by nothing leaves all where it was",
    faults: { "src/internal/limiter/estimator.ts": ["missing > 0 ⇒ missing >= 0", "back <= 0 ⇒ back < 0"] }
  },
  {
    why: "it matters at exactly 50 ms, or a millionth of a call, alone, where the one is as good as the other",
    faults: {
      "src/internal/limiter/estimator.ts": [
        "missing <= 1e-6 ⇒ missing < 1e-6",
        "now > this.blockedUntil + gap ⇒ now >= this.blockedUntil + gap"
      ],
      "src/internal/limiter/bucket.ts": ["missing > rounding ⇒ missing >= rounding"]
    }
  },
  {
    why: "the same for any input: no two that wait have one number, and who is taken out of a line is in it",
    faults: {
      "src/internal/limiter/queue.ts": [
        "one.nth < other.nth ⇒ one.nth <= other.nth",
        "before.next !== undefined ⇒ true"
      ]
    }
  },
  {
    why: "the same for any input: there is one lane, and it goes before no other",
    faults: { "src/internal/limiter/fixed.ts": ["false ⇒ true"] }
  },
  {
    why: "only spares memory and time: a reader that has gone hears nothing, whether it is told or not",
    faults: {
      "src/internal/limiter/news.ts": [
        "() => readers.delete(read) ⇒ () => undefined",
        "(read) => Effect.sync(() => readers.delete(read)) ⇒ () => undefined"
      ]
    }
  },
  {
    why: "it matters at exactly 50 ms alone, where the one is as good as the other",
    faults: {
      "src/internal/limiter/estimator.ts": [
        "span > gap ⇒ span >= gap",
        "now - (this.marks.at(-1)?.endedAt ?? -Infinity) < gap ⇒ now - (this.marks.at(-1)?.endedAt ?? -Infinity) <= gap"
      ]
    }
  },
  {
    why: "only spares room: to have been alike no times is the same as never to have been compared",
    faults: {
      "src/internal/fleet/snapshot.ts": [
        "times > 0 ⇒ true",
        "times > 0 ⇒ times >= 0",
        "Array.from(tenant.buckets, (other) => [other.id, bucket.like … es]) => times > 0) ⇒ Array.from(tenant.buckets, other => [other.id, bucket.likene … r) ?? 0] as const)"
      ]
    }
  },
  {
    why: "it matters only in what somebody else has put there: a bucket without a name, for which any does",
    faults: { "src/internal/fleet/snapshot.ts": ["\"\" ⇒ \"Stryker was here!\""] }
  },
  {
    why: "nothing but a name: each bucket has another one",
    faults: { "src/internal/limiter/adaptive.ts": ["++tenant.made ⇒ --tenant.made"] }
  },
  {
    why: "the same for any input: a limit is told together with what is left, and it is another reset already",
    faults: {
      "src/internal/limiter/adaptive.ts": ["limit === undefined ⇒ false"],
      "src/internal/limiter/fixedWindow.ts": ["reset < this.lastReset ⇒ reset <= this.lastReset"]
    }
  },
  {
    why:
      "the same, and only slower: since the last sighting of a bucket none of its own calls was carried out, unless calls take no time at all",
    faults: {
      "src/internal/limiter/adaptive.ts": [
        "tenant.buckets.size === 1 ⇒ false",
        "other === bucket ⇒ false"
      ]
    }
  },
  {
    why:
      "a guess that matters only where exactly a whole number of calls may have come back: one is as good as the other",
    faults: {
      "src/internal/limiter/adaptive.ts": [
        "excess > 1 ⇒ excess >= 1",
        "excess > 0 ⇒ excess >= 0",
        "gap >= 0 ⇒ gap > 0",
        "missing + refill(bucket, endedAt, endedAt - last.sentAt) >= theirs ⇒ missing + refill(bucket, endedAt, endedAt - last.sentAt) > theirs"
      ]
    }
  },
  {
    why: "a guess between equals: two buckets that explain it as well, two answers or an end in the same millisecond",
    faults: {
      "src/internal/limiter/adaptive.ts": [
        "gap < least ⇒ gap <= least",
        "own.endedAt >= (last?.endedAt ?? -Infinity) ⇒ own.endedAt > (last?.endedAt ?? -Infinity)",
        "endedAt >= last.fullAt ⇒ endedAt > last.fullAt"
      ]
    }
  },
  {
    why: "the same: of two of one time either may come first, and where there is no left one there is no right one",
    faults: {
      "src/internal/runtime/heap.ts": [
        "parent.at <= entry.at ⇒ parent.at < entry.at",
        "child.at >= entry.at ⇒ child.at > entry.at",
        "right.at < left.at ⇒ right.at <= left.at",
        "left !== undefined ⇒ true"
      ]
    }
  },
  {
    why:
      "it matters in one millisecond alone, where the one is as good as the other, or for nothing: there is no more than that",
    faults: {
      "src/internal/limiter/estimator.ts": [
        "ticket.sentAt > this.cutAt ⇒ ticket.sentAt >= this.cutAt",
        "ticket.sentAt >= endedAt ⇒ ticket.sentAt > endedAt",
        "this.level < low ⇒ this.level <= low"
      ]
    }
  },
  {
    why: "only spares memory: one answer more or less is remembered",
    faults: { "src/internal/limiter/estimator.ts": ["this.marks.length > memory ⇒ this.marks.length >= memory"] }
  },
  {
    why: "only spares memory: nothing is found either way, and the table forgets a call that is garbage by itself",
    faults: { "src/internal/limiter/queue.ts": ["taken.next === undefined ⇒ false"] }
  },
  {
    why: "only spares time: a sleeper that is not ended wakes, and finds nothing to do",
    faults: {
      "src/internal/runtime/timer.ts": [
        "{ sleeper?.unsafeInterruptAsFork(FiberId.none) sleeper = und … kesAt = Infinity } ⇒ {}",
        "at > wakesAt - grain ⇒ at >= wakesAt - grain"
      ]
    }
  },
  {
    why:
      "the same: it is set before it is looked at, a time without an end stands for none, and a wait below zero is none",
    faults: { "src/internal/limiter/estimator.ts": ["-Infinity ⇒ +Infinity", "missing > 0 ⇒ true"] }
  },
  {
    why: "the same: a name among those of a map, where it only has to be unlike the others",
    faults: { "src/RateLimiter.ts": ["\"effect-identity-client/RateLimiter/isBackground\" ⇒ \"\""] }
  },
  {
    why: "it matters only in what somebody else has put there: buckets that no call was ever made on",
    faults: { "src/internal/limiter/adaptive.ts": ["-Infinity ⇒ +Infinity"] }
  }
]

import type { Survivors } from "../survivors.js"

export const survivors: Survivors = [
  {
    why: "the same: a first page that has items has new ones, so that it is not stale",
    faults: { "src/internal/pagination/pageTracker.ts": ["false ⇒ true"] }
  },
  {
    why: "asked for by the types: no number is greater than what is made of no total",
    faults: { "src/internal/pagination/pageTracker.ts": ["total !== undefined ⇒ true"] }
  },
  {
    why: "the same: nothing follows in the function, which gives `undefined` then",
    faults: {
      "src/internal/pagination/pageSchema.ts": ["default: return undefined ⇒ default:"],
      "src/internal/redelivery/outcome.ts": ["default: return false ⇒ default:"]
    }
  },
  {
    why: "asked for by the types: no value tells whether its list may be changed",
    faults: { "src/internal/pagination/pageSchema.ts": ["true ⇒ false"] }
  },
  {
    why: "the same: no run is named so",
    faults: { "src/internal/redelivery/journal.ts": ["\"\" ⇒ \"Stryker was here!\""] }
  },
  {
    why: "asked for by the types: JSON has no undefined",
    faults: { "src/internal/redelivery/journal.ts": ["{ exact: true } ⇒ {}", "true ⇒ false"] }
  },
  {
    why: "the same: both ids of that check are the stream's, and what is no issue has no path",
    faults: { "src/Redelivery.ts": ["path === \"id\" ⇒ path !== \"id\"", "[] ⇒ [\"Stryker was here\"]"] }
  },
  {
    why: "only spares memory: nobody takes the results",
    faults: { "src/Redelivery.ts": ["true ⇒ false"] }
  },
  {
    why: "the same: a page is put there before it is looked at, and is not looked at any more when it has been given",
    faults: {
      "src/Pagination.ts": [
        "[] ⇒ [\"Stryker was here\"]",
        "{ fresh: [], isLast: true } ⇒ {}",
        "true ⇒ false"
      ]
    }
  }
]

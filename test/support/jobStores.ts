/** What tests of job storages share: jobs, and entries of their journals. */
import { Effect } from "effect"
import * as Definition from "../../src/internal/redelivery/journal.js"
import type { JobStore, NewJob } from "../../src/jobs/store.js"

export const newJob = (id: string, change: Partial<NewJob> = {}): NewJob => ({
  id,
  kind: "redelivery",
  tenant: "acme",
  key: id,
  definition: "{\"stream\":\"est_1\"}",
  submittedAt: 1000,
  ...change
})

/** An entry of an event, as runs write it. */
export const entry = (id: string, outcome: Definition.JournalEntry["outcome"], run = "r", message?: string): string =>
  JSON.stringify({ id, run, outcome, ...(message !== undefined && { error: { tag: "Error", message } }) })

export const { keyOf } = Definition

/** Writes entries through a new journal, after reading them, as a run does. */
export const note = (
  store: JobStore,
  job: string,
  entries: Readonly<Record<string, Definition.JournalEntry["outcome"]>>
) =>
  Effect.gen(function*() {
    const journal = yield* store.journal(job)
    yield* Effect.forEach(
      Object.entries(entries),
      ([id, outcome]) => Effect.zipRight(journal.get(keyOf(id)), journal.set(keyOf(id), entry(id, outcome))),
      { concurrency: "unbounded" }
    )
  })

/** Ids that are valid. */
export const eventsOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, nth) => `evt_${String(from + nth).padStart(22, "0")}`)

/** What tests of job storages share: jobs, and entries of their journals. */
import { Effect } from "effect"
import * as Definition from "../../src/internal/redelivery/journal.js"
import type { JobRecord, JobStore, NewJob } from "../../src/jobs/store.js"

export const newJob = (id: string, change: Partial<NewJob> = {}): NewJob => ({
  id,
  kind: "redelivery",
  tenant: "acme",
  key: id,
  definition: "{\"stream\":\"est_1\"}",
  submittedAt: 1000,
  ...change
})

/** What a program has seen of a job that `newJob` has made. */
export const seen = (id: string, change: Partial<Pick<JobRecord, "submittedAt" | "resumed">> = {}) => ({
  id,
  submittedAt: 1000,
  resumed: 0,
  ...change
})

/** Creates a job with a list of events that is running. */
export const runningJob = (store: JobStore, id: string, events: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    yield* store.create(newJob(id))
    yield* store.addEvents(seen(id), "loading", events)
    yield* store.update(seen(id), ["loading"], { state: "running", isLoaded: true })
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

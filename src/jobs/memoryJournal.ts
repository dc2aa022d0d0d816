/** The journal of a job in memory: it keeps the job up to date, and ends with it. */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import { type StoreFailure, storeFailure } from "../internal/redelivery/storeFailure.js"
import type * as Redelivery from "../Redelivery.js"
import { eventOf } from "./entries.js"
import type { HeldJob } from "./heldJob.js"
import type { JobNotFound, JobStoreError } from "./model.js"

/** Uses a journal while its job is there. */
type Using = <A>(
  use: () => Effect.Effect<A, StoreFailure>
) => Effect.Effect<A, JobNotFound | JobStoreError | StoreFailure>

const textOf = (value: string | Uint8Array): string =>
  typeof value === "string" ? value : new TextDecoder().decode(value)

/** Guards a journal: an event gets its first entry only while the job runs, and a job that was removed has no journal. */
export const guardJournal = (job: HeldJob, journal: Redelivery.Journal, using: Using): Redelivery.Journal => {
  const use = <A>(method: string, use: () => Effect.Effect<A, StoreFailure>): Effect.Effect<A, StoreFailure> =>
    Effect.mapError(
      using(use),
      (error) =>
        error._tag === "JobNotFound" || error._tag === "JobStoreError"
          ? storeFailure(method, undefined, error.message)
          : error
    )

  /** Writes, and notes in the job what was written. */
  const write = <A>(effect: Effect.Effect<A, StoreFailure>, note: () => void) =>
    Effect.uninterruptible(Effect.tap(effect, () => Effect.sync(note)))

  /** The event of this entry has none yet. */
  const isFirst = (key: string): boolean => {
    const event = eventOf(key)
    return event !== undefined && !job.hasEntry(event)
  }

  return KeyValueStore.make({
    get: (key) => use("get", () => journal.get(key)),
    getUint8Array: (key) => use("get", () => journal.getUint8Array(key)),
    size: use("size", () => journal.size),
    set: (key, value) =>
      use("set", () =>
        job.record.state !== "running" && isFirst(key)
          ? storeFailure("set", undefined, `the job is not running: it is ${job.record.state}`)
          : write(journal.set(key, value), () => job.note(key, textOf(value)))),
    remove: (key) => use("remove", () => write(journal.remove(key), () => job.note(key, undefined))),
    clear: use("clear", () => write(journal.clear, job.clear))
  })
}

/** Keeps jobs in a directory: a folder for each, with the job, the list of its events, and its journal. */
import * as FileSystem from "@effect/platform/FileSystem"
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import { acquire } from "../internal/redelivery/lock.js"
import type { Keeper, KeptJob } from "../jobs/memoryStore.js"
import { JobStoreError } from "../jobs/model.js"
import type { JobRecord } from "../jobs/store.js"
import * as Journal from "./fileJournal.js"

const version = 1

const storeError = ({ message }: { readonly message: string }) =>
  new JobStoreError({ message: `the directory of the jobs cannot be used: ${message}` })

const parse = (text: string): unknown => Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))

const parseRecord = (text: string): JobRecord | undefined => {
  const value = parse(text)
  return Predicate.isRecord(value) && value["version"] === version && Predicate.isRecord(value["job"])
    ? value["job"] as unknown as JobRecord // sound: this version writes it so
    : undefined
}

const parseEvents = (text: string): ReadonlyArray<string> | undefined => {
  const value = parse(text)
  return Array.isArray(value) && value.every((event) => typeof event === "string") ? value : undefined
}

/** The name of the part of a list that begins with the event of this index. */
const partName = (index: number): string => `events-${index}`

/** Makes a keeper that one process at a time can have. */
export const make = (directory: string, lockExpiry: Duration.DurationInput) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const open = (...names: ReadonlyArray<string>): Effect.Effect<KeyValueStore, JobStoreError> =>
      Journal.make(path.join(directory, ...names)).pipe(
        Effect.provideService(FileSystem.FileSystem, fs),
        Effect.provideService(Path.Path, path),
        Effect.mapError(storeError)
      )
    const folder = (id: string) => open("jobs", id)

    const root = yield* open()
    const now = yield* Clock.currentTimeMillis
    const processId = `${now.toString(36)}-${(yield* Random.nextIntBetween(0, 2 ** 31)).toString(36)}`
    const checkLock = yield* Effect.mapError(acquire(root, processId, lockExpiry), storeError)
    const write = (store: KeyValueStore, key: string, value: string) =>
      Effect.mapError(Effect.zipRight(checkLock, store.set(key, value)), storeError)

    /** Reads the parts of a list until one is missing. */
    const readEvents = (store: KeyValueStore, events: Array<string>): Effect.Effect<Array<string>, JobStoreError> =>
      Effect.flatMap(
        Effect.mapError(store.get(partName(events.length)), storeError),
        Option.match({
          onNone: () => Effect.succeed(events),
          onSome: (text) => {
            const part = parseEvents(text)
            return part === undefined || part.length === 0
              ? new JobStoreError({ message: `the directory of the jobs has a damaged list of events` })
              : readEvents(store, [...events, ...part])
          }
        })
      )

    const loadJob = (id: string): Effect.Effect<Option.Option<KeptJob>, JobStoreError> =>
      Effect.gen(function*() {
        const store = yield* folder(id)
        const text = yield* Effect.mapError(store.get("job"), storeError)
        if (Option.isNone(text)) return Option.none() // it was about to be created, or removed
        const record = parseRecord(text.value)
        if (record === undefined) {
          return yield* new JobStoreError({
            message: `the job ${id} cannot be read: a later version may have written it`
          })
        }
        return Option.some({ record, events: yield* readEvents(store, []) })
      })

    const keeper: Keeper = {
      load: Effect.gen(function*() {
        yield* open("jobs")
        const ids = yield* Effect.mapError(fs.readDirectory(path.join(directory, "jobs")), storeError)
        return (yield* Effect.forEach(ids.sort(), loadJob)).flatMap(Option.toArray)
      }),
      save: (job) => Effect.flatMap(folder(job.id), (store) => write(store, "job", JSON.stringify({ version, job }))),
      addEvents: (id, events, known) =>
        Effect.flatMap(folder(id), (store) => write(store, partName(known), JSON.stringify(events))),
      journal: (id) => open("jobs", id, "journal"),
      remove: (id) =>
        Effect.mapError(
          Effect.flatMap(
            folder(id),
            (store) =>
              Effect.zipRight(store.remove("job"), fs.remove(path.join(directory, "jobs", id), { recursive: true }))
          ),
          storeError
        )
    }
    return keeper
  })

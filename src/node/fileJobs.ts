/** Keeps jobs in a directory: a folder for each, with the job, the list of its events, and its journal. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import { acquire } from "../internal/redelivery/lock.js"
import { withStoreFailure } from "../internal/redelivery/storeFailure.js"
import { Failure } from "../jobs/failures.js"
import type { Keeper, KeptJob } from "../jobs/memoryStore.js"
import { JobStoreError, states } from "../jobs/model.js"
import type { JobRecord } from "../jobs/store.js"
import * as Journal from "./fileJournal.js"

const storeError = ({ message }: { readonly message: string }) =>
  new JobStoreError({ message: `the directory of the jobs cannot be used: ${message}` })

const lost = new JobStoreError({ message: "another process has the directory of the jobs now" })

/** The folders of jobs have the jobs' ids as names. Other names are of no interest, except for those of removed jobs. */
const isJob = (name: string): boolean => /^(?:redelivery|export)-[0-9a-f]+$/.test(name)

/** The name of the folder of a job that was removed, until its files are deleted. */
const removedName = (id: string): string => `removed-${id}`

const wasRemoved = (name: string): boolean => name.startsWith("removed-")

const parse = (text: string): unknown => Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))

/** The file of a job. */
const Stored = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(1),
  job: Schema.Struct({
    id: Schema.String,
    kind: Schema.Literal("redelivery", "export"),
    tenant: Schema.String,
    key: Schema.String,
    definition: Schema.String,
    state: Schema.Literal(...states),
    isLoaded: Schema.Boolean,
    resumed: Schema.Number,
    exportJob: Schema.optionalWith(Schema.String, { exact: true }),
    error: Schema.optionalWith(Failure, { exact: true }),
    submittedAt: Schema.Number,
    endedAt: Schema.optionalWith(Schema.Number, { exact: true })
  })
}))
const decodeStored = Schema.decodeOption(Stored)
const encodeStored = Schema.encodeSync(Stored)

const parseEvents = (text: string): ReadonlyArray<string> | undefined => {
  const value = parse(text)
  return Array.isArray(value) && value.every((event) => typeof event === "string") ? value : undefined
}

const ignoreMissing = (removal: Effect.Effect<void, PlatformError>) =>
  Effect.catchIf(removal, (error) => error._tag === "SystemError" && error.reason === "NotFound", () => Effect.void)

/** The name of the part of a list that begins with the event of this index. */
const partName = (index: number): string => `events-${index}`

/** Makes a keeper that one process at a time can have. */
export const make = (directory: string, lockExpiry: Duration.DurationInput) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const pathOf = (...names: ReadonlyArray<string>) => path.join(directory, "jobs", ...names)
    const open = (folder: string): Effect.Effect<KeyValueStore, JobStoreError> =>
      Journal.make(folder).pipe(
        Effect.provideService(FileSystem.FileSystem, fs),
        Effect.provideService(Path.Path, path),
        Effect.mapError(storeError)
      )
    const write = (id: string, key: string, value: string) =>
      Effect.flatMap(open(pathOf(id)), (store) => Effect.mapError(store.set(key, value), storeError))
    const saveJob = (job: JobRecord) => write(job.id, "job", encodeStored({ version: 1, job }))

    const root = yield* open(directory)
    const now = yield* Clock.currentTimeMillis
    const processId = `${now.toString(36)}-${(yield* Random.nextIntBetween(0, 2 ** 31)).toString(36)}`
    const checkLock = yield* Effect.mapError(acquire(root, processId, lockExpiry), storeError)

    /** Jobs that could not be loaded. Their folders stay as they are. */
    const unreadable = new Map<string, JobStoreError>()

    const removeFolder = (name: string) => fs.remove(pathOf(name), { recursive: true, force: true })

    /** Makes the names of folders durable. Windows cannot do that, and does not need to. */
    const syncNames = process.platform === "win32"
      ? Effect.void
      : Effect.scoped(Effect.flatMap(fs.open(pathOf(), { flag: "r" }), ({ sync }) => sync))

    /** Reads the parts of a list until one is missing. */
    const readEvents = (store: KeyValueStore) =>
      Effect.gen(function*() {
        const events: Array<string> = []
        for (;;) {
          const text = yield* Effect.mapError(store.get(partName(events.length)), storeError)
          if (Option.isNone(text)) return events
          const part = parseEvents(text.value)
          if (part === undefined || part.length === 0) {
            return yield* new JobStoreError({ message: "its list of events is damaged" })
          }
          for (const event of part) events.push(event)
        }
      })

    const loadJob = (id: string): Effect.Effect<Option.Option<KeptJob>, JobStoreError> =>
      Effect.gen(function*() {
        const store = yield* open(pathOf(id))
        const text = yield* Effect.mapError(store.get("job"), storeError)
        if (Option.isNone(text)) { // it was about to be created
          yield* Effect.mapError(removeFolder(id), storeError)
          return Option.none()
        }
        const stored = decodeStored(text.value)
        if (Option.isNone(stored) || stored.value.job.id !== id) {
          return yield* new JobStoreError({ message: "it is damaged, or a later version has written it" })
        }
        return Option.some({ record: stored.value.job, events: yield* readEvents(store) })
      })

    /** Loads a job. One that cannot be read is left alone, and does not keep the others. */
    const tryLoadJob = (id: string) =>
      Effect.catchAll(loadJob(id), ({ message }) => {
        const error = new JobStoreError({ message: `the job ${id} cannot be read: ${message}` })
        unreadable.set(id, error)
        return Effect.as(Effect.logWarning(error.message), Option.none<KeptJob>())
      })

    const keeper: Keeper = {
      check: Effect.mapError(checkLock, (error) => error.reason === "locked" ? lost : storeError(error)),
      load: Effect.gen(function*() {
        yield* open(pathOf())
        const names = yield* Effect.mapError(fs.readDirectory(pathOf()), storeError)
        yield* Effect.forEach(names.filter(wasRemoved), removeFolder).pipe(
          Effect.catchAll(({ message }) => Effect.logWarning(`could not delete the files of a removed job: ${message}`))
        )
        return (yield* Effect.forEach(names.filter(isJob).sort(), tryLoadJob)).flatMap(Option.toArray)
      }),
      create: (job) =>
        unreadable.get(job.id) ?? Effect.zipRight(Effect.mapError(removeFolder(job.id), storeError), saveJob(job)),
      save: saveJob,
      addEvents: (id, events, known) => write(id, partName(known), JSON.stringify(events)),
      journal: (id) =>
        Effect.map(open(pathOf(id, "journal")), (journal) => ({
          ...journal,
          // One that is missing is no failure.
          remove: (key) =>
            fs.remove(pathOf(id, "journal", encodeURIComponent(key)), { force: true }).pipe(
              withStoreFailure("remove", key)
            )
        })),
      remove: (id) =>
        Effect.gen(function*() {
          const name = removedName(id)
          yield* removeFolder(name)
          yield* ignoreMissing(fs.rename(pathOf(id), pathOf(name)))
          yield* syncNames
          // The job is gone now. What is left of its files is deleted when the jobs are loaded.
          yield* Effect.ignore(removeFolder(name))
        }).pipe(Effect.mapError(storeError))
    }
    return keeper
  })

/** The storage of jobs in the memory of this process, and what keeps them beyond it, if something does. */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redelivery from "../Redelivery.js"
import { keyOf } from "./entries.js"
import { type HeldJob, makeHeldJob } from "./heldJob.js"
import { guardJournal } from "./memoryJournal.js"
import { endStates, JobNotFound, JobStoreError, type ListFilter } from "./model.js"
import { type Change, type JobRecord, type JobStore, type SeenJob, starting } from "./store.js"

/** A job that was kept. */
export interface KeptJob {
  readonly record: JobRecord
  /** Its events, in their order. */
  readonly events: ReadonlyArray<string>
}

/** Keeps jobs beyond the end of the process. Each operation completes once its value is durable. */
export interface Keeper {
  /** Fails if another process has the jobs now. Comes before each operation. */
  readonly check: Effect.Effect<void, JobStoreError>
  readonly load: Effect.Effect<ReadonlyArray<KeptJob>, JobStoreError>
  /** Keeps a new job. It has nothing of an earlier one with its id. */
  readonly create: (record: JobRecord) => Effect.Effect<void, JobStoreError>
  readonly save: (record: JobRecord) => Effect.Effect<void, JobStoreError>
  /** Adds events to those that were kept before: `known` of them. */
  readonly addEvents: (id: string, events: ReadonlyArray<string>, known: number) => Effect.Effect<void, JobStoreError>
  readonly journal: (id: string) => Effect.Effect<Redelivery.Journal, JobStoreError>
  readonly remove: (id: string) => Effect.Effect<void, JobStoreError>
}

/** Keeps nothing. */
export const keepNothing: Effect.Effect<Keeper> = Effect.sync(() => {
  const journals = new Map<string, Redelivery.Journal>()
  return {
    check: Effect.void,
    load: Effect.succeed([]),
    create: () => Effect.void,
    save: () => Effect.void,
    addEvents: () => Effect.void,
    journal: (id) =>
      Option.match(Option.fromNullable(journals.get(id)), {
        onNone: () =>
          Effect.tap(
            Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerMemory),
            (journal) => Effect.sync(() => void journals.set(id, journal))
          ),
        onSome: Effect.succeed
      }),
    remove: (id) => Effect.sync(() => void journals.delete(id))
  }
})

/** A job, and the order of what is done with its journal: many uses at a time, or one that has it alone. */
interface Held extends HeldJob {
  readonly uses: Effect.Semaphore
  /** The entries that were kept have been read. */
  isRead: boolean
}

const alone = 1_000_000

const hold = (record: JobRecord, events: ReadonlyArray<string>, isRead: boolean): Held =>
  Object.assign(makeHeldJob(record, events), { uses: Effect.unsafeMakeSemaphore(alone), isRead })

const applied = (record: JobRecord, change: Change): JobRecord => {
  const { endedAt, error, exportJob, ...rest } = { ...record, ...change }
  return {
    ...rest,
    ...(endedAt !== undefined && { endedAt }),
    ...(error !== undefined && { error }),
    ...(exportJob !== undefined && { exportJob })
  }
}

const matches = (record: JobRecord, { kind, states, tenant }: ListFilter): boolean =>
  (tenant ?? record.tenant) === record.tenant && (kind ?? record.kind) === record.kind &&
  (states?.includes(record.state) ?? true)

const compare = (one: SeenJob, other: SeenJob): number =>
  one.submittedAt - other.submittedAt || (one.id < other.id ? -1 : Number(one.id > other.id))

const isOld = ({ endedAt = Infinity, state, submittedAt }: JobRecord, before: number): boolean =>
  endStates.includes(state) ? endedAt < before : state === "loading" && submittedAt < before

/** Makes a storage that holds all jobs in memory. Changes are kept before they are seen. */
export const make = (keeper: Keeper): Effect.Effect<JobStore, JobStoreError> =>
  Effect.gen(function*() {
    const jobs = new Map<string, Held>()
    const oneAtATime = yield* Effect.makeSemaphore(1)
    /** The jobs in the order of their submission, so that a page does not sort them all. */
    const ordered: Array<Held> = []

    /** Finds the index of the first job after another. */
    const indexAfter = (seen: SeenJob): number => {
      let [least, most] = [0, ordered.length]
      while (least < most) {
        const middle = (least + most) >> 1
        const job = ordered[middle]
        if (job !== undefined && compare(job.record, seen) <= 0) least = middle + 1
        else most = middle
      }
      return least
    }

    const add = (job: Held): void => {
      jobs.set(job.record.id, job)
      ordered.splice(indexAfter(job.record), 0, job)
    }

    for (const { events, record } of yield* keeper.load) add(hold(record, events, false))

    const checked = <A, E>(use: () => Effect.Effect<A, E>) => Effect.zipRight(keeper.check, Effect.suspend(use))
    const change = <A>(use: () => Effect.Effect<A, JobStoreError>) =>
      oneAtATime.withPermits(1)(Effect.uninterruptible(checked(use)))

    const notFound = (id: string) => new JobNotFound({ id, message: `there is no job ${id}` })

    /** Finds the job that was seen. */
    const find = ({ id, submittedAt }: SeenJob): Held | undefined => {
      const job = jobs.get(id)
      return job?.record.submittedAt === submittedAt ? job : undefined
    }

    /** Uses what is kept of a job, while it is not removed. */
    const using = (job: Held, permits: number) => <A, E>(use: () => Effect.Effect<A, E>) =>
      job.uses.withPermits(permits)(
        checked((): Effect.Effect<A, E | JobNotFound> => {
          const { id } = job.record
          return jobs.get(id) === job ? use() : notFound(id)
        })
      )

    const readEntries = (job: Held) =>
      Effect.flatMap(keeper.journal(job.record.id), (journal) =>
        Effect.forEach(job.ids(), (event) => {
          const key = keyOf(event)
          return Effect.map(journal.get(key), (text) => [key, text] as const)
        }, { concurrency: 10 })).pipe(
          Effect.mapError(({ message }) => new JobStoreError({ message })),
          Effect.map((entries) => {
            for (const [key, text] of entries) job.note(key, Option.getOrUndefined(text))
            job.isRead = true
          })
        )

    /** Finds a job, and reads its entries if nothing has yet. */
    const read = (id: string): Effect.Effect<Held, JobNotFound | JobStoreError> =>
      checked(() => {
        const job = jobs.get(id)
        if (job === undefined) return notFound(id)
        return job.isRead
          ? Effect.succeed(job)
          : Effect.as(using(job, alone)(() => job.isRead ? Effect.void : readEntries(job)), job)
      })

    const create: JobStore["create"] = (job) =>
      change((): ReturnType<JobStore["create"]> => {
        const before = jobs.get(job.id)
        if (before !== undefined) return Effect.succeed({ job: before.record, isNew: false })
        const record: JobRecord = { ...job, state: "loading", isLoaded: false, resumed: 0 }
        return Effect.map(keeper.create(record), () => {
          add(hold(record, [], true))
          return { job: record, isNew: true }
        })
      })

    /** Changes a job that was resumed as often, if this is meant for it. */
    const changeIf = (
      seen: SeenJob & Pick<JobRecord, "resumed">,
      isMeant: (record: JobRecord) => boolean,
      changes: Change
    ) =>
      change(() => {
        const job = find(seen)
        if (job?.record.resumed !== seen.resumed || !isMeant(job.record)) return Effect.succeed(false)
        const record = applied(job.record, changes)
        return Effect.map(keeper.save(record), () => {
          job.record = record
          return true
        })
      })

    const addEvents: JobStore["addEvents"] = (seen, state, events) =>
      change(() => {
        const job = find(seen)
        if (job?.record.state !== state) return Effect.succeed(false)
        const missing = job.missing(events)
        return missing.length === 0 ? Effect.succeed(true) : Effect.map(
          keeper.addEvents(seen.id, missing, job.total()),
          () => {
            job.add(missing)
            return true
          }
        )
      })

    const removeHeld = (job: Held, isMeant: () => boolean) =>
      change(() =>
        jobs.get(job.record.id) !== job || !isMeant() ? Effect.succeed(false) : job.uses.withPermits(alone)(
          Effect.map(keeper.remove(job.record.id), () => {
            ordered.splice(indexAfter(job.record) - 1, 1)
            return jobs.delete(job.record.id)
          })
        )
      )

    return {
      create,
      get: (id) => checked(() => Effect.succeed(Option.map(Option.fromNullable(jobs.get(id)), ({ record }) => record))),
      list: (filter, { after, limit }) =>
        checked(() => {
          const found: Array<JobRecord> = []
          let at = after === undefined ? 0 : indexAfter(after)
          for (; at < ordered.length && found.length < limit; at++) {
            const record = ordered[at]?.record
            if (record !== undefined && matches(record, filter)) found.push(record)
          }
          return Effect.succeed(found)
        }),
      update: (seen, from, changes) => changeIf(seen, ({ state }) => from.includes(state), changes),
      claimExport: (seen) =>
        changeIf(seen, ({ exportJob, state }) => state === "running" && exportJob === undefined, {
          exportJob: starting
        }),
      addEvents,
      unfinished: (id, page) => Effect.map(read(id), (job) => job.unfinished(page)),
      results: (id, page) => Effect.map(read(id), (job) => job.results(page)),
      counts: (id) => Effect.map(read(id), (job) => job.counts()),
      journal: (id) =>
        Effect.flatMap(read(id), (job) =>
          Effect.map(
            using(job, 1)(() => keeper.journal(id)),
            (journal) => guardJournal(job, journal, using(job, 1))
          )),
      remove: (seen, state) =>
        Effect.suspend(() => {
          const job = find(seen)
          return job === undefined
            ? Effect.as(keeper.check, false)
            : removeHeld(job, () => job.record.state === state)
        }),
      prune: (before) =>
        checked(() =>
          Effect.map(
            Effect.forEach(
              [...jobs.values()].filter(({ record }) => isOld(record, before)),
              (job) =>
                Effect.catchAll(removeHeld(job, () => isOld(job.record, before)), ({ message }) =>
                  Effect.as(Effect.logWarning(`could not remove the job ${job.record.id}: ${message}`), false))
            ),
            (removed) =>
              removed.filter((isRemoved) =>
                isRemoved
              ).length
          )
        )
    }
  })

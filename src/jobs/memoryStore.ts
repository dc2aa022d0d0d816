/** The storage of jobs in the memory of this process, and what keeps them beyond it, if something does. */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redelivery from "../Redelivery.js"
import { countsOf, entryOf, isUnfinished, keyOf, resultOf } from "./entries.js"
import { endStates, type JobOutcome, JobStoreError, type ListFilter } from "./model.js"
import type { Change, JobRecord, JobStore, ListedEvent, Page } from "./store.js"

/** A job that was kept. */
export interface KeptJob {
  readonly record: JobRecord
  /** Its events, in their order. */
  readonly events: ReadonlyArray<string>
}

/** Keeps jobs beyond the end of the process. Each operation completes once its value is durable. */
export interface Keeper {
  readonly load: Effect.Effect<ReadonlyArray<KeptJob>, JobStoreError>
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
    load: Effect.succeed([]),
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

/** A job in memory. */
interface Held {
  record: JobRecord
  /** The events, in their order: an event's position is its index plus 1. */
  readonly events: Array<string>
  readonly known: Set<string>
  /** The entries of its journal. */
  readonly entries: Map<string, string>
}

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

const compare = (one: JobRecord, other: JobRecord): number =>
  one.submittedAt - other.submittedAt || (one.id < other.id ? -1 : Number(one.id > other.id))

const take = <A>(all: Iterable<A>, limit: number): ReadonlyArray<A> => {
  const taken: Array<A> = []
  for (const item of all) {
    if (taken.length === limit) break
    taken.push(item)
  }
  return taken
}

/** Makes a storage that holds all jobs in memory. Changes are kept before they are seen. */
export const make = (keeper: Keeper): Effect.Effect<JobStore, JobStoreError> =>
  Effect.gen(function*() {
    const jobs = new Map<string, Held>()
    const oneAtATime = yield* Effect.makeSemaphore(1)

    for (const { events, record } of yield* keeper.load) {
      const journal = yield* keeper.journal(record.id)
      const entries = new Map<string, string>()
      for (const event of events) {
        const text = yield* Effect.mapError(journal.get(keyOf(event)), ({ message }) => new JobStoreError({ message }))
        if (Option.isSome(text)) entries.set(keyOf(event), text.value)
      }
      jobs.set(record.id, { record, events: [...events], known: new Set(events), entries })
    }

    const find = (id: string): Effect.Effect<Held, JobStoreError> =>
      Effect.suspend(() => {
        const job = jobs.get(id)
        return job === undefined ? new JobStoreError({ message: "the job was removed" }) : Effect.succeed(job)
      })

    const entryAt = (job: Held, event: string) => entryOf(event, job.entries.get(keyOf(event)))

    function* listed(job: Held, { after }: Page<number>): Generator<ListedEvent> {
      for (let position = after + 1; position <= job.events.length; position++) {
        const id = job.events[position - 1]
        if (id !== undefined) yield { position, id }
      }
    }

    const hasEnded = (job: Held): boolean => endStates.includes(job.record.state)

    /** A journal whose entries are held, too. */
    const held = (job: Held, journal: Redelivery.Journal): Redelivery.Journal => ({
      ...journal,
      set: (key, value) =>
        Effect.tap(journal.set(key, value), () => Effect.sync(() => void job.entries.set(key, String(value)))),
      remove: (key) => Effect.tap(journal.remove(key), () => Effect.sync(() => void job.entries.delete(key)))
    })

    const update: JobStore["update"] = (id, from, change) =>
      Effect.flatMap(find(id), (job) => {
        if (!from.includes(job.record.state)) return Effect.succeed(false)
        const record = applied(job.record, change)
        return Effect.as(Effect.tap(keeper.save(record), () => Effect.sync(() => void (job.record = record))), true)
      })

    const addEvents: JobStore["addEvents"] = (id, events) =>
      Effect.flatMap(find(id), (job) => {
        const fresh = [...new Set(events)].filter((event) => !job.known.has(event))
        return fresh.length === 0 ?
          Effect.void :
          Effect.tap(keeper.addEvents(id, fresh, job.events.length), () =>
            Effect.sync(() => {
              for (const event of fresh) {
                job.events.push(event)
                job.known.add(event)
              }
            }))
      })

    const create: JobStore["create"] = (job) =>
      Effect.suspend(() => {
        const before = jobs.get(job.id)
        if (before !== undefined) return Effect.succeed(before.record)
        const record: JobRecord = { ...job, state: "loading", isLoaded: false, resumed: 0 }
        return Effect.as(
          Effect.tap(keeper.save(record), () =>
            Effect.sync(() => {
              jobs.set(job.id, { record, events: [], known: new Set(), entries: new Map() })
            })),
          record
        )
      })

    const prune: JobStore["prune"] = (endedBefore) =>
      Effect.suspend(() => {
        const old = [...jobs.values()].filter(({ record }) =>
          endStates.includes(record.state) && (record.endedAt ?? Infinity) < endedBefore
        )
        return Effect.as(
          Effect.forEach(
            old,
            ({ record: { id } }) => Effect.tap(keeper.remove(id), () => Effect.sync(() => void jobs.delete(id)))
          ),
          old.length
        )
      })

    const change = oneAtATime.withPermits(1)
    return {
      create: (job) => change(create(job)),
      get: (id) => Effect.sync(() => Option.map(Option.fromNullable(jobs.get(id)), ({ record }) => record)),
      list: (filter, { after, limit }) =>
        Effect.sync(() =>
          [...jobs.values()]
            .map(({ record }) => record)
            .filter((record) => matches(record, filter) && (after === undefined || compare(record, after) > 0))
            .toSorted(compare)
            .slice(0, limit)
        ),
      update: (id, from, changes) => change(update(id, from, changes)),
      addEvents: (id, events) => change(addEvents(id, events)),
      unfinished: (id, page) =>
        Effect.map(find(id), (job) => {
          function* unfinished() {
            for (const event of listed(job, page)) if (isUnfinished(entryAt(job, event.id))) yield event
          }
          return take(unfinished(), page.limit)
        }),
      results: (id, page) =>
        Effect.map(find(id), (job) => {
          function* results() {
            for (const event of listed(job, page)) {
              const result = resultOf(event, entryAt(job, event.id), hasEnded(job))
              if (result !== undefined) yield result
            }
          }
          return take(results(), page.limit)
        }),
      counts: (id) =>
        Effect.map(find(id), (job) => {
          const numbers: Partial<Record<JobOutcome, number>> = {}
          for (const event of listed(job, { after: 0, limit: Infinity })) {
            const outcome = resultOf(event, entryAt(job, event.id), hasEnded(job))?.outcome
            if (outcome !== undefined) numbers[outcome] = (numbers[outcome] ?? 0) + 1
          }
          return countsOf(job.events.length, numbers)
        }),
      journal: (id) =>
        Effect.flatMap(find(id), (job) => Effect.map(keeper.journal(id), (journal) => held(job, journal))),
      prune: (endedBefore) => change(prune(endedBefore))
    }
  })

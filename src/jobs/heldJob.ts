/** A job in memory: its events with their outcomes, and counts that are kept up to date. */
import { countsOf, entryOf, eventOf, isUnfinished, type OwnEntry, resultOf } from "./entries.js"
import { type Counts, endStates } from "./model.js"
import type { JobRecord, ListedEvent, ListedResult, Page } from "./store.js"

interface HeldEvent extends ListedEvent {
  entry: OwnEntry | undefined
}

export interface HeldJob {
  record: JobRecord
  /** The ids of its events, in their order. */
  readonly ids: () => ReadonlyArray<string>
  readonly total: () => number
  /** Selects ids that are not in the list, each once. */
  readonly missing: (ids: ReadonlyArray<string>) => ReadonlyArray<string>
  /** Adds ids that are not in the list. */
  readonly add: (ids: ReadonlyArray<string>) => void
  /** Tells whether an event has an entry. */
  readonly hasEntry: (id: string) => boolean
  /** Takes over what an entry of the journal is now. `undefined`: it was removed. */
  readonly note: (key: string, text: string | undefined) => void
  /** Takes over that the journal was emptied. */
  readonly clear: () => void
  readonly unfinished: (page: Page<number>) => ReadonlyArray<ListedEvent>
  readonly results: (page: Page<number>) => ReadonlyArray<ListedResult>
  readonly counts: () => Counts
}

export const makeHeldJob = (record: JobRecord, ids: ReadonlyArray<string>): HeldJob => {
  /** In their order: an event's position is its index plus 1. */
  const events: Array<HeldEvent> = []
  const byId = new Map<string, HeldEvent>()
  /** The entries of events that are not listed, by their ids. */
  const others = new Map<string, string>()
  const numbers = new Map<OwnEntry["outcome"], number>()

  const setEntry = (event: HeldEvent, text: string | undefined) => {
    const count = (entry: OwnEntry | undefined, difference: number) =>
      entry && numbers.set(entry.outcome, (numbers.get(entry.outcome) ?? 0) + difference)
    count(event.entry, -1)
    event.entry = entryOf(event.id, text)
    count(event.entry, 1)
  }

  const add = (ids: ReadonlyArray<string>) => {
    for (const id of ids) {
      const event: HeldEvent = { position: events.length + 1, id, entry: undefined }
      events.push(event)
      byId.set(id, event)
      setEntry(event, others.get(id))
      others.delete(id)
    }
  }
  add(ids)

  /** Selects what comes after a position. */
  const pageOf = <A>({ after, limit }: Page<number>, select: (event: HeldEvent) => A | undefined) => {
    const selected: Array<A> = []
    for (let index = after; index < events.length && selected.length < limit; index++) {
      const event = events[index]
      const value = event && select(event)
      if (value !== undefined) selected.push(value)
    }
    return selected
  }

  const hasEnded = () => endStates.includes(held.record.state)

  const held: HeldJob = {
    record,
    ids: () => events.map(({ id }) => id),
    total: () => events.length,
    missing: (ids) => [...new Set(ids)].filter((id) => !byId.has(id)),
    add,
    hasEntry: (id) => byId.get(id)?.entry !== undefined || others.has(id),
    note: (key, text) => {
      const id = eventOf(key)
      if (id === undefined) return
      const event = byId.get(id)
      if (event !== undefined) setEntry(event, text)
      else if (text === undefined) others.delete(id)
      else others.set(id, text)
    },
    clear: () => {
      others.clear()
      for (const event of events) setEntry(event, undefined)
    },
    unfinished: (page) => pageOf(page, ({ entry, id, position }) => isUnfinished(entry) ? { position, id } : undefined),
    results: (page) => pageOf(page, ({ entry, id, position }) => resultOf({ position, id }, entry, hasEnded())),
    counts: () => {
      const { sending = 0, unknown = 0, ...rest } = Object.fromEntries(numbers)
      return countsOf(events.length, { ...rest, unknown: unknown + (hasEnded() ? sending : 0) })
    }
  }
  return held
}

/** Reads the entries of a job's journal: what they say about its events. */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import { decodeEntry, type JournalEntry, keyOf } from "../internal/redelivery/journal.js"
import type { Counts, JobOutcome } from "./model.js"
import type { ListedEvent, ListedResult } from "./store.js"

export { keyOf }

/** Keeps a byte order mark, which may begin an id. */
const text = new TextDecoder("utf-8", { ignoreBOM: true })

/** The event that an entry is about; none if its key is no event's: those are hexadecimal. */
export const eventOf = (key: string): string | undefined =>
  Either.getOrUndefined(Either.map(Encoding.decodeHex(key), (bytes) => text.decode(bytes)))

/** The outcome of an event, as its entry says it. */
export type OwnEntry = Pick<JournalEntry, "outcome" | "error">

/** The outcomes of events that a run leaves as they are. */
const isFinal = ({ outcome }: OwnEntry): boolean => outcome !== "sending" && outcome !== "failed"

/** Reads an entry. One that cannot be decoded, or is another event's, counts as `sending`, as runs see it. */
export const entryOf = (id: string, text: string | undefined): JournalEntry | undefined =>
  text === undefined
    ? undefined
    : decodeEntry(text).pipe(
      Option.filter((entry) => entry.id === id),
      Option.getOrElse((): JournalEntry => ({ id, run: "", outcome: "sending" }))
    )

export const isUnfinished = (entry: OwnEntry | undefined): boolean => entry === undefined || !isFinal(entry)

/** The result of an event; none while it has no outcome. */
export const resultOf = (
  event: ListedEvent,
  entry: OwnEntry | undefined,
  hasEnded: boolean
): ListedResult | undefined => {
  if (entry === undefined || (entry.outcome === "sending" && !hasEnded)) return undefined
  const { error, outcome } = entry
  return { ...event, outcome: outcome === "sending" ? "unknown" : outcome, ...(error !== undefined && { error }) }
}

/** The outcomes of events of jobs. */
export const jobOutcomes: ReadonlyArray<JobOutcome> = ["accepted", "notFailed", "gone", "unknown", "failed"]

/** Counts events by their outcomes. */
export const countsOf = (total: number, numbers: Partial<Record<JobOutcome, number>>): Counts => {
  const { accepted = 0, failed = 0, gone = 0, notFailed = 0, unknown = 0 } = numbers
  const outcomes = { accepted, notFailed, gone, unknown, failed }
  return { total, left: total - accepted - notFailed - gone - unknown - failed, outcomes }
}

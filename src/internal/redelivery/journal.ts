/**
 * The journal of a redelivery run: the stream that it is for, and the outcome of each event. `send.ts` writes to it before each call, and
 * `run.ts` decides by it which events a later run sends.
 */
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Failure } from "../../Errors.js"
import type { StoreFailure } from "./storeFailure.js"

/**
 * The storage that makes a run resumable: any `KeyValueStore` whose `get` returns what the last completed `set` of any process
 * wrote, and whose `set` completes once the value is durable. It has an entry `journal` that names the stream, the entries
 * `lock` and `renewal` while a run holds it, and an entry per event. The key of an event's entry is its id in hexadecimal
 * digits; the value is JSON with `id`, `run`, `outcome` (`sending` until it is known) and `error`. Its `size` is read only if the stream
 * does not exist.
 * @since 0.1.0 @category models
 */
export type Journal = KeyValueStore

/** The operations that reading and writing of entries needs. */
export type EntryStore = Pick<KeyValueStore, "get" | "set" | "remove">

/** The journal cannot be used, or no longer. Without it nothing is sent. @since 0.1.0 @category errors */
export class JournalError extends Data.TaggedError("JournalError")<{
  /**
   * `locked`: another run holds the journal, or has taken it over. `foreign`: it belongs or may belong to another stream, or a
   * later version of this library wrote it. `store`: it cannot be read or written.
   */
  readonly reason: "locked" | "foreign" | "store"
  readonly message: string
}> {}

/** `sending` is written before an event is sent. If it is never replaced, the outcome is unknown. */
const JournalEntry = Schema.parseJson(Schema.Struct({
  id: Schema.String,
  run: Schema.String,
  outcome: Schema.Literal("sending", "accepted", "notFailed", "gone", "unknown", "failed"),
  error: Schema.optionalWith(Failure, { exact: true })
}))
/** A journal's entry about one event. */
export type JournalEntry = typeof JournalEntry.Type

/** Decodes the value of an entry. */
export const decodeEntry = Schema.decodeOption(JournalEntry)

const encodeEntry = Schema.encodeSync(JournalEntry)

/** The entry `journal`. Of later versions only the number is known. */
const Header = Schema.parseJson(Schema.Union(
  Schema.Struct({ version: Schema.Literal(1), stream: Schema.String }),
  Schema.Struct({ version: Schema.Number.pipe(Schema.greaterThan(1)) })
))

const decodeHeader = Schema.decodeOption(Header)

/** Hexadecimal, because keys may be file names: an id could be a path, and some file systems ignore case. */
export const keyOf = (id: string): string => Encoding.encodeHex(id)

export const storeError = (error: StoreFailure) =>
  new JournalError({ reason: "store", message: `the journal cannot be used: ${error.message}` })

/** Reads the entry of an event. One that cannot be decoded counts as `sending`. */
export const readEntry = (store: EntryStore, id: string): Effect.Effect<Option.Option<JournalEntry>, JournalError> =>
  store.get(keyOf(id)).pipe(
    Effect.mapError(storeError),
    Effect.map(Option.map((text) =>
      decodeEntry(text).pipe(
        Option.filter((entry) => entry.id === id),
        Option.getOrElse((): JournalEntry => ({ id, run: "", outcome: "sending" }))
      )
    ))
  )

export const writeEntry = (store: EntryStore, entry: JournalEntry): Effect.Effect<void, JournalError> =>
  Effect.mapError(store.set(keyOf(entry.id), encodeEntry(entry)), storeError)

/** Writes the entry that an event had before it was sent, or removes the one that it has: it was certainly not accepted. */
export const restoreEntry = (
  store: EntryStore,
  id: string,
  before: Option.Option<JournalEntry>
): Effect.Effect<void, JournalError> =>
  Option.match(before, {
    onNone: () => Effect.mapError(store.remove(keyOf(id)), storeError),
    onSome: (entry) => writeEntry(store, entry)
  })

const foreign = (why: string) => new JournalError({ reason: "foreign", message: `the journal ${why}` })

/**
 * Fails if the journal belongs to another stream. Names the stream there if nothing does yet, unless it is read only; returns true if it
 * has.
 */
export const bindToStream = (
  store: EntryStore,
  stream: string,
  isReadOnly: boolean,
  checkLock: Effect.Effect<void, JournalError>
): Effect.Effect<boolean, JournalError> =>
  Effect.gen(function*() {
    const text = yield* Effect.mapError(store.get("journal"), storeError)
    if (Option.isNone(text)) {
      if (!isReadOnly) {
        yield* checkLock // another run may have taken the journal over meanwhile, for another stream
        yield* Effect.mapError(store.set("journal", JSON.stringify({ version: 1, stream })), storeError)
      }
      return !isReadOnly
    }
    const header = decodeHeader(text.value)
    if (Option.isNone(header)) return yield* foreign("has a damaged entry \"journal\": it may belong to another stream")
    if (!("stream" in header.value)) return yield* foreign("was written by a later version of this library")
    if (header.value.stream !== stream) return yield* foreign("belongs to another stream")
    return false
  })

/**
 * Removes the name of a stream that does not exist, so that the journal can serve the right one. The name that an earlier run has written
 * stays, unless the journal certainly has no entry of an event: beside the name, only those of the lock.
 */
export const unbind = (
  journal: Journal,
  isOwn: boolean,
  checkLock: Effect.Effect<void, JournalError>
): Effect.Effect<void> => {
  const hasNoEvent = Effect.zipWith(
    journal.get("renewal"),
    journal.size,
    (renewal, size) => size === (Option.isSome(renewal) ? 3 : 2)
  )
  const remove = Effect.zipRight(checkLock, journal.remove("journal"))
  return Effect.ignore(
    isOwn ? remove : Effect.flatMap(hasNoEvent, (hasNoEvent) => hasNoEvent ? remove : Effect.void)
  )
}

/** A journal in memory, for the duration of the run. */
export const inMemory = (): EntryStore => {
  const entries = new Map<string, string | Uint8Array>()
  return {
    get: (key) => Effect.sync(() => Option.map(Option.fromNullable(entries.get(key)), String)),
    set: (key, value) => Effect.sync(() => void entries.set(key, value)),
    remove: (key) => Effect.sync(() => void entries.delete(key))
  }
}

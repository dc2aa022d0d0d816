/** The journal of a redelivery run: which stream it is for, which run holds it, and the outcome of each event. */
import type { PlatformError } from "@effect/platform/Error"
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/**
 * The storage that makes a run resumable: any `KeyValueStore`. It has an entry `journal` that names the stream, an entry
 * `lock` while a run holds it, and an entry per event. The key of an event's entry is its id in hexadecimal digits; the value
 * is JSON with `id`, `run`, `outcome` (`sending` until it is known) and `error`. A journal that can lock itself in a better
 * way than by that entry brings its own `lock`.
 * @since 0.1.0
 * @category models
 */
export interface Journal extends KeyValueStore {
  /** Locks the journal until the scope closes. Fails if another run holds it. */
  readonly lock?: Effect.Effect<void, JournalError, Scope.Scope>
}

/** The operations that reading and writing of entries needs. */
export type EntryStore = Pick<KeyValueStore, "get" | "set">

/** The journal cannot be used, or no longer. Without it nothing is sent. @since 0.1.0 @category errors */
export class JournalError extends Data.TaggedError("JournalError")<{
  /**
   * `locked`: another run holds the journal, or may hold it. `foreign`: it belongs to another stream, or a later version of
   * this library wrote it. `store`: it cannot be read or written.
   */
  readonly reason: "locked" | "foreign" | "store"
  readonly message: string
}> {}

/** `sending` is written before an event is sent. If it is never replaced, the outcome is unknown. */
const JournalEntry = Schema.parseJson(Schema.Struct({
  id: Schema.String,
  run: Schema.String,
  outcome: Schema.Literal("sending", "accepted", "notFailed", "gone", "unknown", "failed"),
  error: Schema.optionalWith(Schema.Struct({ tag: Schema.String, message: Schema.String }), { exact: true })
}))
/** A journal's entry about one event. */
export type JournalEntry = typeof JournalEntry.Type

const decodeEntry = Schema.decodeOption(JournalEntry)

/** The entry `journal`. Of later versions only the number is known. */
const Header = Schema.parseJson(Schema.Union(
  Schema.Struct({ version: Schema.Literal(1), stream: Schema.String }),
  Schema.Struct({ version: Schema.Number.pipe(Schema.greaterThan(1)) })
))

const decodeHeader = Schema.decodeOption(Header)

/** Hexadecimal, because keys may be file names: an id could be a path, and some file systems ignore case. */
const keyOf = (id: string): string => Encoding.encodeHex(id)

/** Wraps a failure of the store. */
export const storeError = (error: PlatformError) =>
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

/** Writes the entry of an event. */
export const writeEntry = (store: EntryStore, entry: JournalEntry): Effect.Effect<void, JournalError> =>
  Effect.mapError(store.set(keyOf(entry.id), JSON.stringify(entry)), storeError)

const foreign = (why: string) => new JournalError({ reason: "foreign", message: `the journal ${why}` })

/** Fails if the journal belongs to another stream. Names the stream there if nothing does yet, unless it is read only. */
export const bindToStream = (
  store: EntryStore,
  stream: string,
  isReadOnly: boolean
): Effect.Effect<void, JournalError> =>
  Effect.flatMap(
    Effect.mapError(store.get("journal"), storeError),
    (text) =>
      Option.match(Option.flatMap(text, decodeHeader), {
        onNone: () =>
          isReadOnly
            ? Effect.void
            : Effect.mapError(store.set("journal", JSON.stringify({ version: 1, stream })), storeError),
        onSome: (header) =>
          !("stream" in header)
            ? foreign("was written by a later version of this library")
            : header.stream === stream
            ? Effect.void
            : foreign("belongs to another stream")
      })
  )

/**
 * Locks a journal by its entry `lock`, and returns an effect that fails once the lock is lost.
 *
 * Two runs that start at the same time may both find no entry; the last one to write it holds the lock. So a run writes
 * `sending` for an event, checks the lock, and only then sends the event: no event is sent by both. A crash leaves the lock
 * behind, because a store cannot tell whether the holder is still alive.
 */
export const lock = (
  store: EntryStore & Pick<KeyValueStore, "remove">,
  runId: string,
  now: string
): Effect.Effect<Effect.Effect<void, JournalError>, JournalError, Scope.Scope> => {
  const own = JSON.stringify({ run: runId, since: now })
  const locked = (message: string) => new JournalError({ reason: "locked", message })
  const heldBy = (holder: string) =>
    locked(`another run holds the journal: ${holder}; if it has ended, remove the entry "lock"`)
  const readHolder = Effect.mapError(store.get("lock"), storeError)
  const checkLock = Effect.flatMap(
    readHolder,
    Option.match({
      onNone: () => locked("the journal's entry \"lock\" was removed: another run may hold the journal"),
      onSome: (holder) => holder === own ? Effect.void : heldBy(holder)
    })
  )
  const acquire = Effect.gen(function*() {
    const holder = yield* readHolder
    if (Option.isSome(holder)) return yield* heldBy(holder.value)
    yield* Effect.mapError(store.set("lock", own), storeError)
    yield* checkLock
    return checkLock
  })
  return Effect.acquireRelease(acquire, () => Effect.ignore(Effect.zipRight(checkLock, store.remove("lock"))))
}

/** A journal in memory, for the duration of the run. */
export const inMemory = (): EntryStore => {
  const entries = new Map<string, string | Uint8Array>()
  return {
    get: (key) => Effect.sync(() => Option.map(Option.fromNullable(entries.get(key)), String)),
    set: (key, value) => Effect.sync(() => void entries.set(key, value))
  }
}

/** A journal that a run may use. */
export interface OpenJournal {
  readonly store: EntryStore
  /** Fails if another run has taken the lock. */
  readonly checkLock: Effect.Effect<void, JournalError>
}

/** Opens a journal for a run that starts at this time in milliseconds. A dry run neither locks it nor writes to it. */
export const open = (
  journal: Journal | undefined,
  stream: string,
  runId: string,
  startedAt: number,
  dryRun: boolean
): Effect.Effect<OpenJournal, JournalError, Scope.Scope> =>
  Effect.gen(function*() {
    if (journal === undefined) return { store: inMemory(), checkLock: Effect.void }
    let checkLock: OpenJournal["checkLock"] = Effect.void
    if (!dryRun) {
      if (journal.lock !== undefined) yield* journal.lock
      else checkLock = yield* lock(journal, runId, DateTime.formatIso(DateTime.unsafeMake(startedAt)))
    }
    yield* bindToStream(journal, stream, dryRun)
    return { store: journal, checkLock }
  })

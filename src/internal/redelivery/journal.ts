/** What a run of redeliveries writes down: for each event that it is about to be sent, and then what came of it. */
import type { PlatformError } from "@effect/platform/Error"
import type { KeyValueStore } from "@effect/platform/KeyValueStore"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"

/** What a journal needs of a store, its lock aside. */
export type Store = Pick<KeyValueStore, "get" | "set">

/** The journal cannot be used, or not any more: nothing is sent without it. */
export class JournalError extends Data.TaggedError("JournalError")<{
  /**
   * `locked`: another run holds it, or may. `foreign`: it is about the events of another stream, or written by a later
   * version of this library. `store`: it cannot be read or written.
   */
  readonly reason: "locked" | "foreign" | "store"
  readonly message: string
}> {}

/** Ends with what became of an event. `sending` is written before it is sent: if that is all, nobody knows. */
const Entry = Schema.parseJson(Schema.Struct({
  id: Schema.String,
  run: Schema.String,
  outcome: Schema.Literal("sending", "accepted", "notFailed", "gone", "unknown", "failed"),
  error: Schema.optionalWith(Schema.Struct({ tag: Schema.String, message: Schema.String }), { exact: true })
}))
/** What stands in a journal about an event. */
export type Entry = typeof Entry.Type

const decodeEntry = Schema.decodeOption(Entry)

/** What a journal says of itself. Of what later versions write, nothing is known but that it has a number. */
const About = Schema.parseJson(Schema.Union(
  Schema.Struct({ version: Schema.Literal(1), stream: Schema.String }),
  Schema.Struct({ version: Schema.Number.pipe(Schema.greaterThan(1)) })
))

const decodeAbout = Schema.decodeOption(About)

/** Names of files must neither be paths nor differ in nothing but case. */
const keyOf = (id: string): string => Encoding.encodeHex(id)

/** The failure of a run whose store fails. */
export const broken = (error: PlatformError) =>
  new JournalError({ reason: "store", message: `the journal cannot be used: ${error.message}` })

/** What stands there about an event, if anything. An entry that cannot be read is one of somebody who was sending it. */
export const read = (store: Store, id: string): Effect.Effect<Option.Option<Entry>, JournalError> =>
  store.get(keyOf(id)).pipe(
    Effect.mapError(broken),
    Effect.map(Option.map((text) =>
      decodeEntry(text).pipe(
        Option.filter((entry) => entry.id === id),
        Option.getOrElse((): Entry => ({ id, run: "", outcome: "sending" }))
      )
    ))
  )

export const write = (store: Store, entry: Entry): Effect.Effect<void, JournalError> =>
  Effect.mapError(store.set(keyOf(entry.id), JSON.stringify(entry)), broken)

const foreign = (why: string) => new JournalError({ reason: "foreign", message: `the journal ${why}` })

/**
 * Makes sure that the journal is not about the events of another stream, and says there what it is about, unless it is only
 * read. Nothing is written before that.
 */
export const claim = (store: Store, stream: string, isReadOnly: boolean): Effect.Effect<void, JournalError> =>
  Effect.flatMap(
    Effect.mapError(store.get("journal"), broken),
    (text) =>
      Option.match(Option.flatMap(text, decodeAbout), {
        onNone: () =>
          isReadOnly
            ? Effect.void
            : Effect.mapError(store.set("journal", JSON.stringify({ version: 1, stream })), broken),
        onSome: (about) =>
          !("stream" in about)
            ? foreign("was written by a later version of this library")
            : about.stream === stream
            ? Effect.void
            : foreign("is about the events of another stream")
      })
  )

/**
 * Holds the journal by an entry of its own. A crash leaves it there: whether its holder lives, a store cannot tell. Two runs
 * that begin at the same time may both find none, and the last to write holds it. So it gives what tells whether it is still
 * held: whoever asks after an event is written down as `sending` does not send what the other one sends.
 */
export const lock = (
  store: Store & Pick<KeyValueStore, "remove">,
  run: string,
  now: string
): Effect.Effect<Effect.Effect<void, JournalError>, JournalError, Scope.Scope> => {
  const mine = JSON.stringify({ run, since: now })
  const held = (by: string) =>
    new JournalError({
      reason: "locked",
      message: `another run holds the journal: ${by}; if it has ended, remove the entry "lock"`
    })
  const holder = Effect.mapError(store.get("lock"), broken)
  const confirm = Effect.flatMap(
    holder,
    Option.match({
      onNone: () =>
        new JournalError({
          reason: "locked",
          message: "the journal's entry \"lock\" is gone: another run may hold it"
        }),
      onSome: (by) => by === mine ? Effect.void : held(by)
    })
  )
  const take = Effect.gen(function*() {
    const before = yield* holder
    if (Option.isSome(before)) return yield* held(before.value)
    yield* Effect.mapError(store.set("lock", mine), broken)
    yield* confirm
    return confirm
  })
  return Effect.acquireRelease(take, () => Effect.ignore(Effect.zipRight(confirm, store.remove("lock"))))
}

/** A journal that lasts as long as the run. */
export const inMemory = (): Store => {
  const entries = new Map<string, string | Uint8Array>()
  return {
    get: (key) => Effect.sync(() => Option.map(Option.fromNullable(entries.get(key)), String)),
    set: (key, value) => Effect.sync(() => void entries.set(key, value))
  }
}

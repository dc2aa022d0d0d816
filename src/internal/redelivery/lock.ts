/** The lock of a journal: one run holds it, and another run takes it over when the holder stops renewing it. */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { printable } from "../schema/issues.js"
import { type Journal, JournalError, storeError } from "./journal.js"

/** The value of the entry `lock`. Only the run that it names may send. */
const Lock = Schema.parseJson(Schema.Struct({
  run: Schema.String,
  /** The milliseconds without a renewal after which another run may take the lock over. */
  expiresAfter: Schema.Number.pipe(Schema.between(0, 3_600_000))
}))

const decodeLock = Schema.decodeOption(Lock)

const locked = (message: string) => new JournalError({ reason: "locked", message })

/**
 * Locks a journal until the scope closes, and returns an effect that fails once another run has taken the lock over.
 *
 * A run writes the entry `lock` once, before it reads any event's entry, and never again; renewals go to the entry `renewal`.
 * Before it sends an event, it writes the event's entry `sending` and then checks that `lock` is still its own. Of two runs,
 * the one that locked first either fails that check, or has written `sending` before the other one reads the entry: no event
 * is sent by both, even if a holder that is alive loses the lock because it could not renew it in time. If it stalls while it
 * writes `sending`, it may overwrite a result of its successor: later runs report that event as `unknown`.
 *
 * No clock of another process counts: the lock has expired if it stays unchanged for `expiry` while this run looks on.
 */
export const acquire = (
  journal: Journal,
  runId: string,
  expiry: Duration.DurationInput
): Effect.Effect<Effect.Effect<void, JournalError>, JournalError, Scope.Scope> => {
  const expiresAfter = Duration.toMillis(expiry)
  const own = JSON.stringify({ run: runId, expiresAfter })
  const read = (key: string) => Effect.mapError(journal.get(key), storeError)
  const write = (key: string, value: string) => Effect.mapError(journal.set(key, value), storeError)
  const readBoth = Effect.zipWith(read("lock"), read("renewal"), (lock, renewal) => Data.struct({ lock, renewal }))

  const check = Effect.filterOrFail(
    read("lock"),
    Option.contains(own),
    () => locked("another run has taken the journal over, or its entry \"lock\" was removed")
  )

  /** Waits until the lock is released or has expired. Fails when its holder renews it. */
  const awaitExpiry = Effect.gen(function*() {
    const before = yield* readBoth
    if (Option.isNone(before.lock)) return
    const holder = before.lock.value
    const millis = Option.match(decodeLock(holder), { onNone: () => expiresAfter, onSome: (lock) => lock.expiresAfter })
    yield* Effect.logWarning(
      `the journal is locked; this run takes it over in ${Duration.format(millis)} unless its holder is alive`
    )
    const looks = 10
    for (let look = 0; look < looks; look++) {
      yield* Effect.sleep(millis / looks)
      const now = yield* readBoth
      if (Option.isNone(now.lock)) return
      if (!Equal.equals(now, before)) return yield* locked(`another run holds the journal: ${printable(holder)}`)
    }
  })

  const renew = (count: number): Effect.Effect<void, JournalError> =>
    Effect.sleep(expiresAfter / 3).pipe(
      Effect.zipRight(check),
      Effect.zipRight(write("renewal", JSON.stringify({ run: runId, count }))),
      Effect.catchIf(
        ({ reason }) => reason === "store",
        ({ message }) => Effect.logWarning(`could not renew the journal's lock: ${message}`)
      ),
      Effect.zipRight(Effect.suspend(() => renew(count + 1)))
    )

  return Effect.gen(function*() {
    yield* awaitExpiry
    yield* Effect.acquireRelease(
      write("lock", own),
      () =>
        // `lock` goes first: to a waiting run, the removal of `renewal` alone would look like a renewal.
        Effect.ignore(Effect.zip(check, Effect.zip(journal.remove("lock"), journal.remove("renewal"))))
    )
    yield* check
    yield* Effect.forkScoped(Effect.ignore(renew(1))) // a run that lost the lock notices before it sends
    return check
  })
}

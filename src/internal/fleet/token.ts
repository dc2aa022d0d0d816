/**
 * One token for many processes. Whoever needs another than it has looks into the store first; if there is none, it takes a
 * lease, which it must renew, and asks the service. The others wait for that, not for the service: if the lease runs out,
 * the next one takes it. Failures are nobody else's, and while the store is away each process asks for itself.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { TokenError } from "../../Errors.js"
import type * as SharedStore from "../../SharedStore.js"
import * as OAuth from "../token/clientCredentials.js"
import type { Seal } from "./encryption.js"
import { decode, type Saved } from "./saved.js"

/** A token with what it takes to share it; the lifetime and all times in milliseconds, on the store's clock. */
interface Kept {
  readonly token: string
  readonly requestedAt: number
  readonly lifetime: number | undefined
}

/** A token as it was issued, with its lifetime from the moment it was asked for, in milliseconds on the local clock. */
interface Issued {
  readonly token: Redacted.Redacted
  readonly lifetime?: Duration.Duration | undefined
  readonly requestedAt?: number | undefined
}

/** What the store holds. */
interface Content {
  readonly kept: Kept | undefined
  readonly lease: { readonly owner: string; readonly until: number } | undefined
}

/** A process that is gone is waited for so long; one that is there says so all the while. All in milliseconds. */
const lease = { length: 1000, beat: 250, poll: { least: 20, most: 60 } }

/** A token that tells no lifetime is kept so long, and a lease without a token so long, at the most. */
const [unlimited, momentary] = [Duration.days(1), Duration.minutes(1)]

const number = (value: unknown): number | undefined => Predicate.isNumber(value) ? value : undefined

export interface SharedToken {
  /** A token other than the last one that it gave. */
  readonly request: Effect.Effect<Issued, TokenError>
  /** Takes a token that was refused out of the store, if it is there. */
  readonly forget: (token: Redacted.Redacted) => Effect.Effect<void>
}

export const make = (
  store: SharedStore.SharedStore["Type"],
  name: string,
  seal: Seal,
  ask: Effect.Effect<Issued, TokenError>
): Effect.Effect<SharedToken, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const owner = yield* Effect.map(Random.nextIntBetween(0, 2 ** 52), (number) => number.toString(36))
    const key = `token:1:${name}`
    let last: string | undefined
    let hasAsked = false

    const inBackground = (effect: Effect.Effect<unknown, unknown>) =>
      Effect.asVoid(Effect.forkIn(Effect.interruptible(Effect.ignore(effect)), scope))

    /** What cannot be opened is not there. */
    const read = ({ entry }: SharedStore.Snapshot): Effect.Effect<Content> => {
      const saved: Saved = entry === undefined ? {} : decode(entry.value)
      const { requestedAt, sealed, until } = saved
      const held = Predicate.isString(saved["owner"]) && Predicate.isNumber(until)
        ? { owner: saved["owner"], until }
        : undefined
      if (!Predicate.isString(sealed) || !Predicate.isNumber(requestedAt)) {
        return Effect.succeed({ kept: undefined, lease: held })
      }
      return Effect.match(seal.open(sealed, key), {
        onFailure: () => ({ kept: undefined, lease: held }),
        onSuccess: (token) => ({
          kept: { token, requestedAt, lifetime: number(saved["lifetime"]) },
          lease: held
        })
      })
    }

    /** Writes, if nobody else has since. */
    const write = ({ entry, now }: SharedStore.Snapshot, { kept, lease }: Content) =>
      Effect.gen(function*() {
        if (kept === undefined && lease === undefined) return yield* store.swap(key, entry?.version, undefined)
        const { lifetime, requestedAt, token } = kept ?? {}
        const value = JSON.stringify({
          ...lease,
          ...(token !== undefined && { sealed: yield* seal.close(token, key), requestedAt, lifetime })
        })
        const timeToLive = kept === undefined
          ? momentary
          : kept.lifetime === undefined
          ? unlimited
          : Duration.millis(
            Math.max(lease === undefined ? 1 : lease.until - now, kept.requestedAt + kept.lifetime - now)
          )
        return yield* store.swap(key, entry?.version, { value, timeToLive })
      })

    /** Changes what is there, however often others come in between. */
    const change = (
      seen: SharedStore.Snapshot,
      next: (content: Content) => Content | undefined
    ): Effect.Effect<void, unknown> =>
      Effect.flatMap(read(seen), (content) => {
        const changed = next(content)
        return changed === undefined ? Effect.void : Effect.flatMap(
          write(seen, changed),
          (after) => after.swapped ? Effect.void : change(after, next)
        )
      })

    const publish = ({ lifetime, requestedAt, token }: Issued & { readonly requestedAt: number }) =>
      Effect.gen(function*() {
        const seen = yield* store.get(key)
        const age = (yield* Clock.currentTimeMillis) - requestedAt
        const kept: Kept = {
          token: Redacted.value(token),
          requestedAt: seen.now - age,
          lifetime: lifetime === undefined ? undefined : Duration.toMillis(lifetime)
        }
        // Of two the newer stays.
        const isNewer = (other: Kept | undefined) => other === undefined || other.requestedAt <= kept.requestedAt
        yield* change(seen, (content) => isNewer(content.kept) ? { kept, lease: undefined } : undefined)
      })

    /** Asks the service, and tells the others what came. */
    const askAlone = Effect.gen(function*() {
      const began = yield* Clock.currentTimeMillis
      const issued = yield* ask
      last = Redacted.value(issued.token)
      yield* inBackground(publish({ ...issued, requestedAt: issued.requestedAt ?? began }))
      return issued
    })

    const release = Effect.flatMap(
      store.get(key),
      (seen) => change(seen, ({ kept, lease }) => lease?.owner === owner ? { kept, lease: undefined } : undefined)
    )

    const renew = Effect.flatMap(store.get(key), (seen) =>
      change(
        seen,
        ({ kept, lease: held }) =>
          held?.owner === owner ? { kept, lease: { owner, until: seen.now + lease.length } } : undefined
      ))

    // In a fiber of its own: who closes the scope may have been interrupted.
    yield* Effect.addFinalizer(() =>
      hasAsked ? Effect.flatMap(Effect.forkDaemon(Effect.ignore(release)), Fiber.join) : Effect.void
    )

    const askForAll = Effect.suspend(() => {
      hasAsked = true
      return askAlone
    }).pipe(
      Effect.raceFirst(Effect.forever(Effect.zipRight(Effect.sleep(lease.beat), Effect.ignore(renew)))),
      Effect.tapErrorCause(() => inBackground(release))
    )

    const poll = Effect.flatMap(Random.nextRange(lease.poll.least, lease.poll.most), Effect.sleep)

    const isGood = ({ lifetime, requestedAt, token }: Kept, now: number): boolean =>
      token !== last && (lifetime === undefined || now < requestedAt + OAuth.goodFor(lifetime))

    const give = ({ lifetime, requestedAt, token }: Kept, now: number): Effect.Effect<Issued> =>
      Effect.map(Clock.currentTimeMillis, (here) => {
        last = token
        return {
          token: Redacted.make(token),
          lifetime: lifetime === undefined ? undefined : Duration.millis(lifetime),
          requestedAt: here - (now - requestedAt)
        }
      })

    /** What to do now that it is seen what there is: give it, wait, or ask. */
    const decide = (seen: SharedStore.Snapshot): Effect.Effect<Effect.Effect<Issued, TokenError>, unknown> =>
      Effect.flatMap(read(seen), ({ kept, lease: held }) => {
        const { now } = seen
        if (kept !== undefined && isGood(kept, now)) return Effect.succeed(give(kept, now))
        if (held !== undefined && held.owner !== owner && held.until > now) {
          return Effect.succeed(Effect.zipRight(poll, request))
        }
        return Effect.flatMap(
          write(seen, { kept, lease: { owner, until: now + lease.length } }),
          (after) => after.swapped ? Effect.succeed(askForAll) : decide(after)
        )
      })

    const request: Effect.Effect<Issued, TokenError> = store.get(key).pipe(
      Effect.flatMap(decide),
      Effect.catchAll(() => Effect.succeed(askAlone)),
      Effect.flatten
    )

    return {
      request,
      forget: (token) =>
        inBackground(
          Effect.flatMap(store.get(key), (seen) =>
            change(
              seen,
              ({ kept, lease }) => kept?.token === Redacted.value(token) ? { kept: undefined, lease } : undefined
            ))
        )
    }
  })

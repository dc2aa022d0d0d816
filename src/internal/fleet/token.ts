/**
 * Shares one token among the processes of a fleet. A process that needs another token than it has looks into the store. If
 * there is none, it takes a lease and requests one; it renews the lease meanwhile. The others wait for the token; if the
 * lease runs out, the next one takes it. Failures are not shared. While the store is unavailable each process requests its own.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { TokenError } from "../../Errors.js"
import type * as SharedStore from "../../SharedStore.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import { usableMillis } from "../token/cache.js"
import type { DatedToken } from "../token/datedToken.js"
import type { Cipher } from "./encryption.js"
import { type DecryptedToken, make as makeStoredToken, type Seen } from "./storedToken.js"

/** In milliseconds: how long a lease lasts, how soon its owner renews it, and how soon the others look again. */
const timing = { lease: 1000, renewal: 250, poll: { least: 20, most: 60 } }

export interface SharedToken {
  /** Obtains a token other than the one that it gave last. */
  readonly request: Effect.Effect<DatedToken, TokenError>
  /** Removes a refused token from the store. */
  readonly forget: (token: Redacted.Redacted) => Effect.Effect<void>
}

export const make = (
  store: SharedStore.SharedStore["Type"],
  name: string,
  cipher: Cipher,
  requestToken: Effect.Effect<DatedToken, TokenError>
): Effect.Effect<SharedToken, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const clock = yield* Effect.clock
    const owner = yield* Effect.map(Random.nextIntBetween(0, 2 ** 52), (number) => number.toString(36))
    const stored = makeStoredToken(store, name, cipher)
    let last: string | undefined
    let hasLeased = false

    const inBackground = (effect: Effect.Effect<unknown, unknown>) =>
      Effect.asVoid(Effect.forkIn(Effect.interruptible(Effect.ignore(effect)), scope))

    /** Stores a token unless the store has a newer one. */
    const publish = ({ lifetime, requestedAt, token }: DatedToken) =>
      stored.update(({ now, token: other }) => {
        const millis = lifetime === undefined ? Infinity : Duration.toMillis(lifetime)
        const own: DecryptedToken = {
          token: Redacted.value(token),
          requestedAt: now - (monotonicMillis(clock) - requestedAt),
          lifetime: Number.isFinite(millis) ? millis : undefined
        }
        return other === undefined || other.requestedAt <= own.requestedAt ? { token: own } : undefined
      })

    const requestAlone = Effect.tap(requestToken, (issued) => {
      last = Redacted.value(issued.token)
      return inBackground(publish(issued))
    })

    const release = stored.update(({ lease, token }) => lease?.owner === owner ? { token } : undefined)

    const renew = stored.update(({ lease: held, now, token }) =>
      held?.owner === owner ? { token, lease: { owner, until: now + timing.lease } } : undefined
    )

    // In a fiber of its own: the fiber that closes the scope may have been interrupted.
    yield* Effect.addFinalizer(() =>
      hasLeased ? Effect.flatMap(Effect.forkDaemon(Effect.ignore(release)), Fiber.join) : Effect.void
    )

    const requestForAll = Effect.suspend(() => {
      hasLeased = true
      return requestAlone
    }).pipe(
      Effect.raceFirst(Effect.forever(Effect.zipRight(Effect.sleep(timing.renewal), Effect.ignore(renew)))),
      Effect.tapErrorCause(() => inBackground(release))
    )

    const isUsable = ({ lifetime, requestedAt, token }: DecryptedToken, now: number): boolean =>
      token !== last && (lifetime === undefined || now < requestedAt + usableMillis(lifetime))

    const use = ({ lifetime, requestedAt, token }: DecryptedToken, now: number): DatedToken => {
      last = token
      return {
        token: Redacted.make(token),
        lifetime: lifetime === undefined ? undefined : Duration.millis(lifetime),
        requestedAt: monotonicMillis(clock) - (now - requestedAt)
      }
    }

    const poll = Effect.flatMap(Random.nextRange(timing.poll.least, timing.poll.most), Effect.sleep)

    /** Decides what to do next: use the stored token, wait for another process, or request one. */
    const decide = (seen: Seen): Effect.Effect<Effect.Effect<DatedToken, TokenError>, unknown> => {
      const { lease: held, now, token } = seen
      if (token !== undefined && isUsable(token, now)) return Effect.sync(() => Effect.succeed(use(token, now)))
      if (held !== undefined && held.owner !== owner && held.until > now) {
        return Effect.succeed(Effect.zipRight(poll, request))
      }
      return Effect.flatMap(
        stored.swap(seen, { token, lease: { owner, until: now + timing.lease } }),
        (other) => other === undefined ? Effect.succeed(requestForAll) : decide(other)
      )
    }

    const request: Effect.Effect<DatedToken, TokenError> = Effect.flatten(
      Effect.orElseSucceed(Effect.flatMap(stored.get, decide), () => requestAlone)
    )

    return {
      request,
      forget: (token) =>
        inBackground(
          stored.update(({ lease, token: cached }) => cached?.token === Redacted.value(token) ? { lease } : undefined)
        )
    }
  })

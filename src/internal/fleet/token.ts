/**
 * Shares one token among the processes of a fleet. A process that needs another token than it has looks into the store. If
 * there is none, it takes a lease and requests one; it renews the lease meanwhile. The others wait for the token; if the
 * lease runs out, the next one takes it. Failures are not shared. While the store is unavailable, or others win each write, a
 * process requests its own.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { TokenError } from "../../Errors.js"
import type * as SharedStore from "../../SharedStore.js"
import { inOwnFiber } from "../runtime/fiber.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import { type TokenSource, usableMillis } from "../token/cache.js"
import type { DatedToken } from "../token/issuedToken.js"
import type { Cipher } from "./encryption.js"
import { type Content, type ContentNow, make as makeStoredToken } from "./storedToken.js"

/** In milliseconds: how long a lease lasts, how soon its owner renews it, and how soon the others look again. */
const timing = { lease: 1000, renewal: 250, poll: { least: 20, most: 60 } }

/** Makes a source of tokens. Its `request` gives a token other than the last one; `forget` removes one from the store. */
export const make = (
  store: SharedStore.SharedStore["Type"],
  name: string,
  cipher: Cipher,
  requestToken: Effect.Effect<DatedToken, TokenError>
): Effect.Effect<Required<TokenSource>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const clock = yield* Effect.clock
    const owner = yield* Effect.map(Random.nextIntBetween(0, 2 ** 52), (number) => number.toString(36))
    const modify = makeStoredToken(store, name, cipher, clock)
    let last: string | undefined
    let hasLeased = false

    /** Changes the content, or leaves it if there is no other. */
    const update = (change: (seen: ContentNow) => Content | undefined) => modify((seen) => [undefined, change(seen)])

    const inBackground = (effect: Effect.Effect<unknown, unknown>) =>
      Effect.asVoid(Effect.forkIn(Effect.interruptible(Effect.ignore(effect)), scope))

    /** Stores a token unless the store has a newer one. One that is dated in the future does not count: the store's clock was set back. */
    const publish = (issued: DatedToken) =>
      update(({ now, token: other }) => {
        const age = monotonicMillis(clock) - issued.requestedAt
        const token = { ...issued, requestedAt: now - Math.max(0, age) } // a source may date it by a clock that is ahead
        const hasNewer = other !== undefined && other.requestedAt > token.requestedAt && other.requestedAt <= now
        return hasNewer ? undefined : { token }
      })

    const requestAlone = Effect.tap(requestToken, (issued) => {
      last = Redacted.value(issued.token)
      return inBackground(publish(issued))
    })

    const leaseFrom = (now: number) => ({ owner, until: now + timing.lease })

    const renew = update(({ lease, now, token }) =>
      lease?.owner === owner ? { token, lease: leaseFrom(now) } : undefined
    )

    const release = update(({ lease, token }) => lease?.owner === owner ? { token } : undefined)

    yield* Effect.addFinalizer(() => hasLeased ? inOwnFiber(Effect.ignore(release)) : Effect.void)

    const requestForAll = Effect.suspend(() => {
      hasLeased = true
      return requestAlone
    }).pipe(
      Effect.raceFirst(Effect.forever(Effect.zipRight(Effect.sleep(timing.renewal), Effect.ignore(renew)))),
      Effect.tapErrorCause(() => inBackground(release))
    )

    /** A token that is dated in the future may have expired: the store's clock was set back. */
    const isUsable = ({ lifetime, requestedAt, token }: DatedToken, now: number): boolean =>
      Redacted.value(token) !== last && requestedAt <= now && now < requestedAt + usableMillis(lifetime)

    const use = (token: DatedToken, now: number) =>
      Effect.sync(() => {
        last = Redacted.value(token.token)
        return { ...token, requestedAt: monotonicMillis(clock) - (now - token.requestedAt) }
      })

    const poll = Effect.flatMap(Random.nextRange(timing.poll.least, timing.poll.most), Effect.sleep)

    /** Uses the stored token, waits for another process, or takes the lease and requests one. */
    const request: Effect.Effect<DatedToken, TokenError> = Effect.suspend(() =>
      modify<typeof request>(({ lease, now, token }) => {
        if (token !== undefined && isUsable(token, now)) return [use(token, now)]
        const isLeased = lease !== undefined && lease.owner !== owner && lease.until > now
        if (isLeased && lease.until <= now + timing.lease) return [Effect.zipRight(poll, request)]
        return [requestForAll, { token, lease: leaseFrom(now) }]
      })
    ).pipe(Effect.orElseSucceed(() => requestAlone), Effect.flatten)

    return {
      request,
      forget: (refused) =>
        inBackground(
          update(({ lease, token }) =>
            token !== undefined && Redacted.value(token.token) === Redacted.value(refused) ? { lease } : undefined
          )
        )
    }
  })

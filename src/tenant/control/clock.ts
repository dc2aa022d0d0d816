/** A clock that can be moved forward: the tenant reads its times from it, and sleeps by the clock beneath. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

export interface MovableClock {
  /** The time by which the clock is ahead, in milliseconds. */
  readonly offset: () => number
  readonly setOffset: (millis: number) => void
  /** Runs an effect by this clock. */
  readonly provide: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The time that only runs, in milliseconds: it stays as it is when the clock is moved. */
export const steadyMillis: Effect.Effect<number> = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

export const make = (): MovableClock => {
  let offset = 0
  let last: { readonly base: Clock.Clock; readonly moved: Clock.Clock } | undefined

  const move = (base: Clock.Clock): Clock.Clock => ({
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => base.unsafeCurrentTimeMillis() + offset,
    unsafeCurrentTimeNanos: () => base.unsafeCurrentTimeNanos(),
    currentTimeMillis: Effect.map(base.currentTimeMillis, (now) => now + offset),
    currentTimeNanos: base.currentTimeNanos,
    sleep: (duration) => base.sleep(duration)
  })

  return {
    offset: () => offset,
    setOffset: (millis) => {
      offset = millis
    },
    provide: (effect) =>
      Effect.clockWith((base) => {
        if (base === last?.moved) return effect // it must not be moved twice
        if (base !== last?.base) last = { base, moved: move(base) }
        return Effect.withClock(effect, last.moved)
      })
  }
}

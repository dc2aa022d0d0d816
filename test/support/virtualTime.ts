/** Virtual time: an effect runs to its end, and whenever nobody can go on the clock jumps to the next who wakes. */
import { Clock, Duration, Effect, type Fiber, Scheduler } from "effect"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** A clock that stands still until it is told to jump. Sleepers wake at whole milliseconds, as with the real one. */
class VirtualClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private readonly sleepers = new Set<Sleeper>()
  private now: number

  constructor(now: number) {
    this.now = now
  }

  unsafeCurrentTimeMillis(): number {
    return this.now
  }

  unsafeCurrentTimeNanos(): bigint {
    return BigInt(this.now) * 1_000_000n
  }

  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const millis = Math.ceil(Duration.toMillis(duration))
      if (millis <= 0) return resume(Effect.void)
      const sleeper = { at: this.now + millis, wake: () => resume(Effect.void) }
      this.sleepers.add(sleeper)
      return Effect.sync(() => void this.sleepers.delete(sleeper))
    })
  }

  /** When the next sleeper wakes; none sleeps: never. */
  get next(): number {
    let next = Infinity
    for (const { at } of this.sleepers) next = Math.min(next, at)
    return next
  }

  /** Jumps to that moment and wakes who is due, in the order in which they fell asleep. */
  jump(to: number): void {
    this.now = to
    for (const sleeper of this.sleepers) {
      if (sleeper.at > to) continue
      this.sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}

/** Lets promises settle that are no matter of the scheduler's, such as those of a web stream. */
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Runs tasks until nobody can go on. More of them than `most` at one moment are taken for a loop that never ends. */
const goOn = async (scheduler: Scheduler.ControlledScheduler, most = 100_000): Promise<void> => {
  let steps = 0
  // Twice, so that a promise that settles later than the others is not missed.
  for (let quiet = 0; quiet < 2; quiet++) {
    await settle()
    for (; scheduler.tasks.buckets.length > 0; quiet = -1) {
      if (++steps > most) throw new Error("somebody spins: time stands still, and there is no end of work")
      scheduler.step()
    }
  }
}

/**
 * Runs an effect by a clock of its own that shows `from` at the beginning. It is a defect if nobody can go on, or if the
 * effect is not over after `most`. `TestClock` would wait for several real timers whenever somebody wakes, and keep
 * sleepers that were interrupted; a clock with a scheduler beside it knows at once that nobody can go on.
 */
export const run = <A, E>(
  effect: Effect.Effect<A, E>,
  { from = Date.UTC(2030, 0, 1), most }: { readonly from?: number; readonly most: Duration.DurationInput }
): Effect.Effect<A, E> =>
  Effect.promise(async () => {
    const clock = new VirtualClock(from)
    const scheduler = new Scheduler.ControlledScheduler()
    const until = from + Duration.toMillis(most)
    const fiber = Effect.runFork(Effect.withClock(effect, clock), { scheduler })
    for (;;) {
      await goOn(scheduler)
      const exit = fiber.unsafePoll()
      if (exit !== null) return exit
      const { next } = clock
      if (next === Infinity) throw new Error("everybody waits, and nobody sleeps")
      if (next > until) throw new Error(`not over after ${Duration.format(most)} of virtual time`)
      clock.jump(next)
    }
  }).pipe(Effect.flatten)

/** Virtual time in steps: what is begun goes on whenever time does. */
export interface Session {
  /** Begins an effect, and lets everybody go on until nobody can. */
  readonly begin: <A, E>(effect: Effect.Effect<A, E>) => Promise<Fiber.RuntimeFiber<A, E>>
  /** Lets so many milliseconds go by. */
  readonly advance: (millis: number) => Promise<void>
  readonly now: () => number
}

export const session = (from = Date.UTC(2030, 0, 1)): Session => {
  const clock = new VirtualClock(from)
  const scheduler = new Scheduler.ControlledScheduler()
  return {
    begin: async (effect) => {
      const fiber = Effect.runFork(Effect.withClock(effect, clock), { scheduler })
      await goOn(scheduler)
      return fiber
    },
    advance: async (millis) => {
      const until = clock.unsafeCurrentTimeMillis() + millis
      await goOn(scheduler)
      for (let { next } = clock; next <= until; next = clock.next) {
        clock.jump(next)
        await goOn(scheduler)
      }
      clock.jump(until)
    },
    now: () => clock.unsafeCurrentTimeMillis()
  }
}

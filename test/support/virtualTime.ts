/** Virtual time: an effect runs to its end, and whenever all fibers sleep or wait the clock jumps to the next wake-up. */
import { Clock, Duration, Effect, type Fiber } from "effect"
import { makeStepped, type SteppedScheduler } from "./schedulers.js"

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** A clock that stands still until it jumps. Sleeps end at whole milliseconds, as with the real clock. */
class VirtualClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private readonly sleepers = new Set<Sleeper>()
  /** The time of the next wake-up, unless `isStale`. */
  private soonest = Infinity
  private isStale = false
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
      this.soonest = Math.min(this.soonest, sleeper.at)
      return Effect.sync(() => {
        this.sleepers.delete(sleeper)
        this.isStale ||= sleeper.at === this.soonest
      })
    })
  }

  /** The time of the next wake-up; Infinity if no fiber sleeps. */
  get next(): number {
    if (this.isStale) {
      this.soonest = Infinity
      for (const { at } of this.sleepers) this.soonest = Math.min(this.soonest, at)
      this.isStale = false
    }
    return this.soonest
  }

  /** Jumps to a time and wakes all sleepers that are due, in the order in which they fell asleep. */
  jump(to: number): void {
    this.now = to
    const due: Array<Sleeper> = []
    this.soonest = Infinity
    this.isStale = false
    for (const sleeper of this.sleepers) {
      if (sleeper.at <= to) due.push(sleeper)
      else this.soonest = Math.min(this.soonest, sleeper.at)
    }
    for (const sleeper of due) {
      this.sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}

/** Lets promises settle that do not run on the scheduler, such as those of a web stream. */
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Runs tasks until none is left. Fails after `most` of them at one time: that is an endless loop. */
const goOn = async (tasks: SteppedScheduler, most = 100_000): Promise<void> => {
  let steps = 0
  // Twice, so that a promise that settles later than the others is not missed.
  for (let quiet = 0; quiet < 2; quiet++) {
    await settle()
    for (; tasks.hasTasks(); quiet = -1) {
      if (++steps > most) throw new Error("endless loop: tasks never end while time stands still")
      tasks.step()
    }
  }
}

/**
 * Runs an effect with a clock of its own that begins at `from`. It dies if all fibers wait and none sleeps, or if the effect has
 * not ended after `most`. `TestClock` would wait for several real timers at each wake-up and keep interrupted sleepers; a
 * clock beside its own scheduler knows at once that no task is left.
 */
export const run = <A, E>(
  effect: Effect.Effect<A, E>,
  { from = Date.UTC(2030, 0, 1), most }: { readonly from?: number; readonly most: Duration.DurationInput }
): Effect.Effect<A, E> =>
  Effect.promise(async () => {
    const clock = new VirtualClock(from)
    const tasks = makeStepped()
    const until = from + Duration.toMillis(most)
    const fiber = Effect.runFork(Effect.withClock(effect, clock), { scheduler: tasks.scheduler })
    for (;;) {
      await goOn(tasks)
      const exit = fiber.unsafePoll()
      if (exit !== null) return exit
      const { next } = clock
      if (next === Infinity) throw new Error("deadlock: all fibers wait, and none sleeps")
      if (next > until) throw new Error(`not over after ${Duration.format(most)} of virtual time`)
      clock.jump(next)
    }
  }).pipe(Effect.flatten)

/** Virtual time in steps. */
export interface Session {
  /** Starts an effect, and runs all fibers until they sleep or wait. */
  readonly begin: <A, E>(effect: Effect.Effect<A, E>) => Promise<Fiber.RuntimeFiber<A, E>>
  /** Lets these milliseconds pass. */
  readonly advance: (millis: number) => Promise<void>
  readonly now: () => number
}

export const session = (from = Date.UTC(2030, 0, 1)): Session => {
  const clock = new VirtualClock(from)
  const tasks = makeStepped()
  return {
    begin: async (effect) => {
      const fiber = Effect.runFork(Effect.withClock(effect, clock), { scheduler: tasks.scheduler })
      await goOn(tasks)
      return fiber
    },
    advance: async (millis) => {
      const until = clock.unsafeCurrentTimeMillis() + millis
      await goOn(tasks)
      for (let { next } = clock; next <= until; next = clock.next) {
        clock.jump(next)
        await goOn(tasks)
      }
      clock.jump(until)
    },
    now: () => clock.unsafeCurrentTimeMillis()
  }
}

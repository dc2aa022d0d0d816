/**
 * The machine of a simulation: one virtual time, the fibers that are ready, and the order in which they run. Every simulated
 * process is a task of it, with a clock of its own, and can be paused and killed.
 */
import { Clock, Duration, Effect } from "effect"
import * as Ambient from "./ambient.js"
import * as Fibers from "./fibers.js"
import { stream } from "./numbers.js"

/** A life of a simulated process, from its start to its end; also the service and the network have one. */
export interface Life {
  readonly name: string
  readonly clock: Clock.Clock
  readonly scheduler: Fibers.LifeScheduler
  /** The difference of its time of day to the time of the machine, in milliseconds. */
  skew: number
  /** The number of tasks that it has run. */
  steps: number
  state: "running" | "paused" | "dead"
  /** Is called before each of its tasks with the number of those before. */
  onStep: ((steps: number) => void) | undefined
}

interface Task {
  readonly life: Life
  /** Tasks of one fiber run in their order. */
  readonly fiber: object
  readonly run: () => void
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** The order in which ready fibers run. */
export interface Schedule {
  /** True: any ready fiber may be the next. False: the one that has waited longest. */
  readonly permute: boolean
  /** The share of operations at which a fiber gives way to another. */
  readonly preempt: number
}

/** A fiber gives way only after this number of operations: to give way costs about nine more. */
const leastOperations = 16

/** The most tasks at one time. More of them are an endless loop. */
const mostAtOnce = 50_000

/** True while a machine takes the place of the default scheduler. */
let isOccupied = false

export class Machine {
  now = Date.UTC(2030, 0, 1)
  /** The number of tasks that have run. */
  steps = 0
  /** A number in which every decision of the schedule is mixed. */
  fingerprint = 0
  private ready: Array<Task> = []
  private readonly waiting = new Set<Task>()
  private readonly sleepers = new Set<Sleeper>()
  private readonly immediates: Array<() => void> = []
  private readonly schedule: Schedule
  private readonly next: () => number
  private readonly entropy: () => number

  constructor(seed: number, schedule: Schedule) {
    this.schedule = schedule
    this.next = stream(seed, "schedule")
    this.entropy = stream(seed, "entropy")
  }

  /** Starts a life. Its monotonic clock begins at another time than that of others. */
  makeLife(name: string, skew = 0): Life {
    const origin = this.now - Math.floor(this.next() * 1e9)
    const life: Life = {
      name,
      skew,
      steps: 0,
      state: "running",
      onStep: undefined,
      clock: {
        [Clock.ClockTypeId]: Clock.ClockTypeId,
        unsafeCurrentTimeMillis: () => this.now + life.skew,
        unsafeCurrentTimeNanos: () => BigInt(this.now - origin) * 1_000_000n,
        currentTimeMillis: Effect.sync(() => this.now + life.skew),
        currentTimeNanos: Effect.sync(() => BigInt(this.now - origin) * 1_000_000n),
        sleep: (duration) =>
          Effect.async<void>((resume) => {
            const cancel = this.after(Math.ceil(Duration.toMillis(duration)), () => resume(Effect.void))
            return Effect.sync(cancel)
          })
      },
      scheduler: Fibers.makeScheduler({
        gives: (operations) =>
          operations > leastOperations && this.schedule.preempt > 0 && this.next() < this.schedule.preempt,
        isRunning: () => isOccupied,
        add: (fiber, run) => this.add({ life, fiber: fiber ?? life, run })
      })
    }
    return life
  }

  /** Starts an effect in a life. Its fibers, and all that they fork, belong to the life. */
  start<A, E>(life: Life, effect: Effect.Effect<A, E>) {
    return Fibers.start(Effect.withClock(effect, life.clock), life.scheduler)
  }

  /** Calls a function after this number of milliseconds; returns a function that cancels this. */
  after(millis: number, wake: () => void): () => void {
    const sleeper = { at: this.now + Math.max(0, millis), wake }
    this.sleepers.add(sleeper)
    return () => void this.sleepers.delete(sleeper)
  }

  /** Ends a life at once: none of its fibers runs again, and no finalizer. */
  kill(life: Life): void {
    life.state = "dead"
    this.ready = this.ready.filter((task) => task.life !== life)
  }

  /** Lets no fiber of a life run for a time; all else goes on. */
  pause(life: Life, millis: number): void {
    if (life.state !== "running") return
    life.state = "paused"
    const isOther = (task: Task) => task.life !== life
    for (const task of this.ready) if (!isOther(task)) this.waiting.add(task)
    this.ready = this.ready.filter(isOther)
    this.after(millis, () => {
      if (life.state === "paused") life.state = "running"
      for (const task of this.waiting) {
        if (task.life !== life) continue
        this.waiting.delete(task)
        this.add(task)
      }
    })
  }

  /** Takes the place of Node's clock, timers and random numbers, until `release`. One machine at a time can do so. */
  occupy(): void {
    if (isOccupied) throw new Error("another machine is running")
    isOccupied = true
    Fibers.resetNames()
    Ambient.enter({
      now: () => this.now,
      // Effect draws one for each object that it hashes, for those of modules once only: no draw may change the next.
      random: () => stream(this.steps)(),
      byte: () => Math.floor(this.entropy() * 256),
      immediate: (task) => void this.immediates.push(task),
      timerSet: () => {
        throw new Error("a timer of Node's was set: its time cannot be simulated")
      }
    })
  }

  release(): void {
    isOccupied = false
    Ambient.enter(undefined)
  }

  /**
   * Runs until `isDone`, which is asked after each step. Returns false if all fibers wait and none sleeps, or if `until` has
   * come before, in milliseconds of the machine.
   */
  async run(isDone: () => boolean, until: number): Promise<boolean> {
    for (;;) {
      for (let atOnce = 0; this.ready.length > 0; atOnce++) {
        this.step()
        if (isDone()) return true
        if (atOnce > mostAtOnce) throw new Error("endless loop: tasks never end while time stands still")
      }
      await Ambient.settlePromises()
      if (isDone()) return true
      if (this.ready.length > 0) continue
      const immediate = this.immediates.shift()
      if (immediate !== undefined) immediate()
      else if (!this.jump(until)) return false
    }
  }

  private add(task: Task): void {
    if (task.life.state === "paused") this.waiting.add(task)
    else if (task.life.state === "running") this.ready.push(task)
  }

  private step(): void {
    const chosen = this.schedule.permute ? Math.floor(this.next() * this.ready.length) : 0
    const { fiber } = this.ready[chosen]! // sound: there is one, and `chosen` is less than their number
    const index = this.ready.findIndex((task) => task.fiber === fiber)
    const [task] = this.ready.splice(index, 1)
    if (task === undefined) return
    const { life } = task
    life.onStep?.(life.steps)
    if (life.state !== "running") return void (life.state === "paused" && this.waiting.add(task))
    life.steps++
    this.steps++
    this.fingerprint = (Math.imul(this.fingerprint, 31) + index + 1009 * this.ready.length) | 0
    task.run()
  }

  /** Lets the time pass until the next sleeper wakes. */
  private jump(until: number): boolean {
    let at = Infinity
    for (const sleeper of this.sleepers) at = Math.min(at, sleeper.at)
    if (at > until || at === Infinity) {
      this.now = until
      return false
    }
    this.now = at
    for (const sleeper of this.sleepers) {
      if (sleeper.at > at) continue
      this.sleepers.delete(sleeper)
      sleeper.wake()
    }
    return true
  }
}

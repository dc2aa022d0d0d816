/** A simulated process: it starts, makes its calls in several threads, dies and starts again, and ends when it is asked to. */
import { Cause, Effect, Exit, type Fiber, Layer, Logger, LogLevel, Random, Scope } from "effect"
import { jobsLayer } from "./jobs/programs.js"
import type { Life } from "./machine.js"
import type { Call, Crash, ProcessPlan } from "./plan.js"
import { clientLayer, makeCall, type Site, together } from "./programs.js"
import { loggerOf, tracerOf } from "./telemetry.js"

/** A call of each operation: if a permit is lost, one of them waits for ever. */
const probes = (["export", "redeliver", "update", "list", "delete"] as const).map((kind, nth): Call => ({
  id: 1000 + nth,
  thread: 0,
  after: 0,
  kind
}))

export class Process {
  private readonly site: Site
  private readonly plan: ProcessPlan
  private lives = 0
  private life: Life | undefined
  private skew: number
  private isClosing = false
  /** The calls that run. */
  /** The calls that run, and when they began. */
  private readonly running = new Map<Call, number>()
  private isProbing = false
  private proceed = () => {}
  private close = () => {}
  /** True once all calls have ended. */
  isDone = false
  /** True once the calls that it was asked for have ended. */
  isProbed = false
  /** True once it has ended because it was asked to. */
  isClosed = false

  constructor(site: Site, plan: ProcessPlan) {
    this.site = site
    this.plan = plan
    this.skew = plan.skew
    for (const { at, by } of plan.leaps) {
      this.disturb(at, `clock leaps by ${by} ms`, (life) => {
        this.skew += by
        life.skew = this.skew
      })
    }
    for (const pause of plan.pauses) {
      this.disturb(pause.at, `pauses for ${pause.for} ms`, (life) => site.world.machine.pause(life, pause.for))
    }
  }

  /** Starts the next life. */
  start(): void {
    const { plan: { crashes, id }, site: { bounds, world } } = this
    bounds.count(id, "lives")
    const nth = this.lives++
    const life = world.machine.makeLife(`p${id}.${nth}`, this.skew)
    this.life = life
    world.note(`${life.name} starts`)
    const fiber = world.machine.start(life, this.program(life))
    const crash = crashes[nth]
    if (crash !== undefined) this.plant(crash, life, fiber)
    fiber.addObserver((exit) => {
      world.note(`${life.name} has ended`)
      if (Exit.isFailure(exit) && !Cause.isInterruptedOnly(exit.cause)) {
        world.violate("no defects", `${life.name}: ${Cause.pretty(exit.cause)}`)
      }
      if (crash === undefined || this.isClosing) this.isClosed = true
      else this.restart(crash)
    })
  }

  /** Asks the process for one more call of each operation, once its own have ended. */
  probe(): void {
    this.isProbing = true
    this.proceed()
  }

  /** Asks the process to end. */
  end(): void {
    this.isClosing = true
    this.proceed()
    this.close()
  }

  private restart({ downFor }: Crash): void {
    this.site.world.machine.after(downFor, () => this.start())
  }

  /** Ends a life after the number of steps that the plan says. */
  private plant(crash: Crash, life: Life, fiber: Fiber.RuntimeFiber<unknown, unknown>): void {
    const { world } = this.site
    life.onStep = (steps) => {
      if (steps < crash.steps || world.isHealed) return
      life.onStep = undefined
      world.note(`${life.name} ${crash.kind === "crash" ? "crashes" : "is stopped"}`)
      // A signal reaches a program between two iterations of the event loop. In the midst of one Effect 3.22 may hang: a
      // concurrent `forEach` that is interrupted before the first of its fibers has started never ends.
      if (crash.kind === "stop") return void world.machine.after(0, () => fiber.unsafeInterruptAsFork(fiber.id()))
      world.machine.kill(life)
      this.restart(crash)
    }
  }

  private disturb(at: number, what: string, act: (life: Life) => void): void {
    const { world } = this.site
    world.machine.after(at, () => {
      if (world.isHealed || this.life === undefined) return
      world.note(`p${this.plan.id} ${what}`)
      act(this.life)
    })
  }

  /** Closes a client while its calls run: each must end within 5 s, and none as an interruption. */
  private closeClient(life: Life, scope: Scope.CloseableScope): void {
    const { plan: { closes }, site: { world } } = this
    if (closes === undefined) return
    world.machine.after(closes, () => {
      if (world.isHealed || this.isClosing) return
      world.note(`${life.name} closes its client`)
      world.machine.start(life, Scope.close(scope, Exit.void))
      const checked = Effect.sync(() => {
        for (const [call, since] of this.running) {
          if (call.kind === "redelivery" || since === world.time) continue // it may wait for its journal, or begins just now
          world.violate("closing", `${life.name}: ${call.kind} ${call.id} runs on`)
        }
      })
      world.machine.start(life, Effect.zipRight(Effect.sleep("5010 millis"), checked))
    })
  }

  private began(call: Call): void {
    this.running.set(call, this.site.world.time)
  }

  /** A call has ended: as an interruption only if something has interrupted it. */
  private ended(call: Call, exit: Exit.Exit<unknown, unknown>): void {
    this.running.delete(call)
    const mayBeInterrupted = this.plan.closes === undefined || call.interruptAfter !== undefined || this.isClosing
    if (mayBeInterrupted || !Exit.isInterrupted(exit)) return
    this.site.world.violate("closing", `p${this.plan.id}: ${call.kind} ${call.id} ended as an interruption`)
  }

  private program(life: Life): Effect.Effect<void, unknown> {
    const { plan: { calls, id }, site } = this
    const { world } = site
    const threads = new Map<number, Array<Call>>()
    for (const call of calls) threads.set(call.thread, [...threads.get(call.thread) ?? [], call])
    const asked = Effect.async<void>((resume) => {
      this.isDone = true
      world.note(`${life.name} is done`)
      this.proceed = () => resume(Effect.void)
      if (this.isProbing || this.isClosing) this.proceed()
    })
    const make = (call: Call) =>
      makeCall(site, id, life, call, { began: () => this.began(call), ended: (exit) => this.ended(call, exit) })
    const probed = Effect.suspend(() => Effect.forEach(this.isProbing ? probes : [], make, { discard: true }))
    const closed = Effect.async<void>((resume) => {
      this.isProbed = true
      this.close = () => resume(Effect.void)
      if (this.isClosing) this.close()
    })
    const client = clientLayer(site, id, life)
    // Fresh as a whole: the calls and the jobs of a life share its client, and no life has that of another.
    const layer = Layer.fresh(
      site.jobs === undefined ? client : Layer.provideMerge(jobsLayer(site.jobs, id, life), client)
    )
    const program = together(
      Array.from(
        threads.values(),
        (calls) => Effect.forEach(calls, make, { discard: true })
      )
    ).pipe(
      Effect.zipRight(asked),
      Effect.zipRight(probed),
      Effect.zipRight(closed)
    )
    return Effect.acquireUseRelease(
      Scope.make(),
      (scope) =>
        Effect.flatMap(Layer.buildWithScope(layer, scope), (context) => {
          this.closeClient(life, scope)
          return Effect.provide(program, context)
        }),
      Scope.close
    ).pipe(
      Effect.withRandom(Random.make(`${world.plan.seed} ${life.name}`)),
      Effect.withTracer(tracerOf(world)),
      Logger.withMinimumLogLevel(LogLevel.Debug),
      Effect.provide(Logger.replace(Logger.defaultLogger, loggerOf(world, life.name)))
    )
  }
}

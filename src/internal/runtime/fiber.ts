/** Access to Effect's fibers and fiber-local settings; with `runner.ts` the only module that knows how Effect represents them. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import type * as LogLevel from "effect/LogLevel"
import type * as MetricLabel from "effect/MetricLabel"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"

/** A running fiber, independent of its result. */
export type AnyFiber = Fiber.RuntimeFiber<unknown, unknown>

/** Makes a wait interruptible again inside an uninterruptible region, as `Effect.uninterruptibleMask` provides it. */
export type Restore = <A, E, R>(wait: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Gives the current fiber to a function. */
export const withFiber: <A, E = never, R = never>(
  use: (fiber: AnyFiber) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E, R> = Effect.withFiberRuntime

/** A value that an effect can set for everything that runs inside it. */
export type Setting<A> = FiberRef.FiberRef<A>

/** Makes a setting; all copies of this module in a process share it by its name. */
export const makeSetting = <A>(name: string, initial: () => A): Setting<A> =>
  globalValue(`effect-identity-client/${name}`, () => FiberRef.unsafeMake(initial()))

export const settingOf = <A>(fiber: AnyFiber, setting: Setting<A>): A => fiber.getFiberRef(setting)

/** Changes a setting for one effect. */
export const withSetting = <A, E, R, S>(
  self: Effect.Effect<A, E, R>,
  setting: Setting<S>,
  update: (current: S) => S
): Effect.Effect<A, E, R> => Effect.locallyWith(self, setting, update)

export const clockOf = (fiber: AnyFiber): Clock.Clock => Context.get(fiber.currentDefaultServices, Clock.Clock)

export const contextOf = (fiber: AnyFiber): Context.Context<never> => fiber.currentContext

/** Changes the services that the current fiber sees, until they are changed again. */
export const updateContext = (
  update: (context: Context.Context<never>) => Context.Context<never>
): Effect.Effect<void> => FiberRef.update(FiberRef.currentContext, update)

/** Gives an effect the current services. Those that it has when it runs win: its spans are children of the span there. */
export const withCurrentServices = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<Effect.Effect<A, E>, never, R> =>
  Effect.map(
    Effect.context<R>(),
    (current) => Effect.mapInputContext(self, (own: Context.Context<never>) => Context.merge(current, own))
  )

export const tracerOf = (fiber: AnyFiber): Tracer.Tracer => fiber.currentTracer

export const spanOf = (fiber: AnyFiber): Tracer.AnySpan | undefined => fiber.currentSpan

export const isTracerEnabled = (fiber: AnyFiber): boolean => fiber.getFiberRef(FiberRef.currentTracerEnabled)

/** Reads the time for a span of a fiber, in nanoseconds; 0 if its spans are not timed. */
export const spanTimeOf = (fiber: AnyFiber): bigint =>
  fiber.getFiberRef(FiberRef.currentTracerTimingEnabled) ? clockOf(fiber).unsafeCurrentTimeNanos() : 0n

export const metricLabelsOf = (fiber: AnyFiber): ReadonlyArray<MetricLabel.MetricLabel> =>
  fiber.getFiberRef(FiberRef.currentMetricLabels)

export const minimumLogLevelOf = (fiber: AnyFiber): LogLevel.LogLevel =>
  fiber.getFiberRef(FiberRef.currentMinimumLogLevel)

/** Runs an effect with the tracer, the loggers and the labels of metrics of a fiber that it works for. */
export const withTelemetryOf = <A, E, R>(fiber: AnyFiber, self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  self.pipe(
    Effect.withTracer(tracerOf(fiber)),
    Effect.withTracerEnabled(isTracerEnabled(fiber)),
    Effect.locally(FiberRef.currentLoggers, fiber.getFiberRef(FiberRef.currentLoggers)),
    Effect.locally(FiberRef.currentMetricLabels, metricLabelsOf(fiber)),
    Effect.locally(FiberRef.currentMinimumLogLevel, minimumLogLevelOf(fiber))
  )

/**
 * Runs an effect whose fibers may fail without a line in the log. The runtime would write one of level debug with the failure of each,
 * whose message may hold text of the service.
 */
export const withoutFailureLogs = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withUnhandledErrorLogLevel(self, Option.none())

/** Interrupts a fiber without waiting for its end. */
export const interruptInBackground = (fiber: AnyFiber): void => fiber.unsafeInterruptAsFork(FiberId.none)

/** Runs an effect in a new fiber: a finalizer's own fiber may already be interrupted, and a time-out there would end at once. */
export const inOwnFiber = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.forkDaemon(Effect.interruptible(self)), Fiber.join)

/**
 * Runs an effect until another one ends, and returns true if it was stopped so. Waits for the finalizers of the effect, also when it is
 * interrupted itself: `Effect.raceFirst` does not wait for what it races then.
 */
export const runUntil = <E, R, R2>(
  self: Effect.Effect<void, E, R>,
  stop: Effect.Effect<void, never, R2>
): Effect.Effect<boolean, E, R | R2> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      let isStopped = false
      const fiber = yield* withoutFailureLogs(Effect.forkDaemon(Effect.interruptible(self)))
      const watcher = yield* Effect.forkDaemon(Effect.interruptible(
        Effect.zipRight(
          stop,
          Effect.suspend(() => {
            isStopped = true
            return Fiber.interruptFork(fiber)
          })
        )
      ))
      const exit = yield* restore(Fiber.await(fiber)).pipe(
        Effect.onInterrupt(() => Fiber.interrupt(fiber)),
        Effect.ensuring(Fiber.interrupt(watcher))
      )
      return isStopped && Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
        ? true
        : yield* Effect.as(exit, false)
    })
  )

export const makeDeferred = <A, E>(): Deferred.Deferred<A, E> => Deferred.unsafeMake(FiberId.none)

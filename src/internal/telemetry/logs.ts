/** What the library writes to the program's log: our own words and numbers, never those of an input or an answer. */
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as LogLevel from "effect/LogLevel"

/** Whether a fiber's log takes notes for debugging. */
export const isDebugged = (fiber: Fiber.RuntimeFiber<unknown, unknown>): boolean =>
  fiber.getFiberRef(FiberRef.currentMinimumLogLevel).ordinal <= LogLevel.Debug.ordinal

/** What a note is about. */
export interface About {
  readonly operation: string
  /** Which attempt of the call, from 1 on; 0 before the first. */
  readonly attempt?: number
}

const note = (level: LogLevel.LogLevel) => (message: string, about: About): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWithLevel(level, message), { ...about })

/** What happened in the course of a call. */
export const debug = note(LogLevel.Debug)

/** What somebody may have to do something about. */
export const warning = note(LogLevel.Warning)

/** The log of one fiber, for another that works on its behalf. */
export const asOf = (fiber: Fiber.RuntimeFiber<unknown, unknown>) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
  self.pipe(
    Effect.locally(FiberRef.currentLoggers, fiber.getFiberRef(FiberRef.currentLoggers)),
    Effect.locally(FiberRef.currentMinimumLogLevel, fiber.getFiberRef(FiberRef.currentMinimumLogLevel))
  )

/** A time as people read it; milliseconds may be fractions. */
export const time = (millis: number): string =>
  millis < 1000 ? `${Math.round(millis)} ms` : `${Math.round(millis / 100) / 10} s`

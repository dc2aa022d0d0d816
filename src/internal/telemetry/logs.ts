/** What the library writes to the program's log: our own words and numbers, never those of an input or an answer. */
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import { type AnyFiber, minimumLogLevelOf } from "../runtime/fiber.js"

/** Whether a fiber's log takes notes for debugging. */
export const isDebugged = (fiber: AnyFiber): boolean => minimumLogLevelOf(fiber).ordinal <= LogLevel.Debug.ordinal

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

/** A time as people read it; milliseconds may be fractions. */
export const time = (millis: number): string =>
  millis < 1000 ? `${Math.round(millis)} ms` : `${Math.round(millis / 100) / 10} s`

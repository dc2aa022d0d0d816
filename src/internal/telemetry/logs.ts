/** Writes to the program's log: messages and numbers of the library, never text of an input or a response. */
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import { type AnyFiber, minimumLogLevelOf } from "../runtime/fiber.js"

/** Tests if a fiber's log includes debug lines. */
export const isDebugEnabled = (fiber: AnyFiber): boolean => minimumLogLevelOf(fiber).ordinal <= LogLevel.Debug.ordinal

/** The annotations of a log line. */
interface Annotations {
  readonly operation: string
  /** The number of the attempt, from 1; 0 before the first one. */
  readonly attempt?: number
}

/** Makes the effect that writes a log line. */
export type WriteLog = (message: string, annotations: Annotations) => Effect.Effect<void>

const writeAt = (level: LogLevel.LogLevel): WriteLog => (message, annotations) =>
  Effect.annotateLogs(Effect.logWithLevel(level, message), { ...annotations })

export const debug = writeAt(LogLevel.Debug)

/** For conditions that may need somebody's attention. */
export const warning = writeAt(LogLevel.Warning)

/** Formats a duration, for example `20 ms` or `1.5 s`. */
export const formatMillis = (millis: number): string =>
  millis < 1000 ? `${Math.round(millis)} ms` : `${Math.round(millis / 100) / 10} s`

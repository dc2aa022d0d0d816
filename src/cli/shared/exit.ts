/** Ends commands: exit codes, and failures as one sentence. */
import * as Cause from "effect/Cause"
import * as ConfigError from "effect/ConfigError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { isParserFailure } from "./parser.js"
import { complain, printable } from "./text.js"

/** Ends the command with an exit code; what there is to say has been printed. */
export class Exited extends Data.TaggedError("Exited")<{ readonly code: number }> {}

/** Arguments that contradict each other or what they name. The usage is printed beside the message. */
export class WrongUsage extends Data.TaggedError("WrongUsage")<{ readonly message: string }> {}

export const codes: Readonly<Record<number, string>> = {
  0: "success",
  1: "failure; the standard error output says why",
  2: "wrong usage; nothing was sent",
  130: "interrupted"
}

/** Describes a failure by its name and message, without a stack. */
export const describe = (failure: unknown): string => {
  if (ConfigError.isConfigError(failure)) {
    // The text names each variable that is wrong after "at", and others in its hints.
    const text = String(failure).replace(/\s+/g, " ")
    const wrong = new Set(Array.from(text.matchAll(/\bat (?:\[")?(IDENTITY_\w+)/g), ([, name]) => name))
    const names = [...wrong].join(", ")
    return `Missing or invalid environment variables: ${names}.\n${text}\nThe guide "configuration" lists all of them, and their alternatives.`
  }
  if (!Predicate.hasProperty(failure, "message")) return printable(String(failure))
  const message = printable(String(failure.message))
  return Predicate.hasProperty(failure, "_tag") ? `${String(failure._tag)}: ${message}` : message
}

/** Other failures have a status, too, which is that of the token endpoint or of a storage. */
const isNotFound = (failure: unknown): boolean =>
  Predicate.isTagged(failure, "NotFound") ||
  (Predicate.isTagged(failure, "UnexpectedResponse") && Predicate.hasProperty(failure, "status") &&
    failure.status === 404)

/** The exit code of a failure: 3 if the service says that something does not exist, else 1. */
export const exitCode = (failure: unknown): number => isNotFound(failure) ? 3 : 1

/** Prints what a command failed with, unless it has, and gives its exit code. */
export const codeOf = (cause: Cause.Cause<unknown>, usage: string): Effect.Effect<number> =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.isInterruptedOnly(cause) ? Effect.succeed(130) : Effect.as(complain(Cause.pretty(cause)), 1),
    onSome: (failure) => {
      if (failure instanceof Exited) return Effect.succeed(failure.code)
      // The parser has printed its own.
      if (isParserFailure(failure)) return Effect.as(complain(usage), 2)
      if (failure instanceof WrongUsage) return Effect.as(complain(`${failure.message}\n\n${usage}`), 2)
      return Effect.as(complain(describe(failure)), exitCode(failure))
    }
  })

/** What the scripts share: their arguments, the client from environment variables, and failures in one line. */
import { NodeRuntime } from "@effect/platform-node"
import { Cause, ConfigError, Console, Data, Effect, Option, Predicate } from "effect"
import type { IdentityClient } from "effect-identity-client"
import * as Node from "effect-identity-client/node"
import { parseArgs, type ParseArgsConfig } from "node:util"
import { red } from "./terminal.js"

/** Arguments that cannot be understood. */
class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

/** Reads the command line: so many positional arguments, by name, and options. */
export const args = <const O extends NonNullable<ParseArgsConfig["options"]>>(
  usage: string,
  positional: number,
  options: O
) =>
  Effect.try({
    try: () => parseArgs({ options, allowPositionals: true, strict: true }),
    catch: (error) => new UsageError({ message: `${error instanceof Error ? error.message : error}\nusage: ${usage}` })
  }).pipe(
    Effect.filterOrFail(({ positionals }) => positionals.length === positional, () =>
      new UsageError({ message: `usage: ${usage}` }))
  )

/** A failure as a person wants to read it: its name and its message, no stack. */
const describe = (failure: unknown): string => {
  if (ConfigError.isConfigError(failure)) return `${failure}\nThe README lists the variables that are needed.`
  if (!Predicate.hasProperty(failure, "message")) return String(failure)
  return Predicate.hasProperty(failure, "_tag")
    ? `${String(failure._tag)}: ${String(failure.message)}`
    : String(failure)
}

/** Runs a script: exit code 0, or 1 and a line on the standard error output. */
export const run = <E>(script: Effect.Effect<void, E, IdentityClient.IdentityClient>): void =>
  script.pipe(
    Effect.provide(Node.layer),
    Effect.tapErrorCause((cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(red(Cause.pretty(cause))),
        onSome: (failure) => Console.error(red(describe(failure)))
      })
    ),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )

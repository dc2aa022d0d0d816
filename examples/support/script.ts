/** Runs a script: parses its arguments, builds the client from environment variables, and prints failures in one line. */
import { Runtime } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Cause, ConfigError, Console, Data, Effect, Exit, Logger, Option, Predicate } from "effect"
import type { IdentityClient } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import { parseArgs, type ParseArgsConfig } from "node:util"
import { redOnStderr } from "./terminal.js"

/** Invalid arguments. */
class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

/** The usage line of a script, its number of positional arguments, and its options. */
interface Usage<Options> {
  readonly usage: string
  readonly positionals: number
  readonly options: Options
}

const parse = <const Options extends NonNullable<ParseArgsConfig["options"]>>(
  { options, positionals, usage }: Usage<Options>
) =>
  Effect.try({
    try: () => parseArgs({ options, allowPositionals: true, strict: true }),
    catch: (error) => new UsageError({ message: `${error instanceof Error ? error.message : error}\nusage: ${usage}` })
  }).pipe(
    Effect.filterOrFail(
      (args) => args.positionals.length === positionals,
      () => new UsageError({ message: `usage: ${usage}` })
    )
  )

/** Warnings, such as those of the rate limit, go to the standard error output: the standard output belongs to the script. */
const LoggerLive = Logger.replace(Logger.defaultLogger, Logger.prettyLogger({ stderr: true }))

/** Describes a failure by its name and message, without a stack. */
const describe = (failure: unknown): string => {
  if (ConfigError.isConfigError(failure)) {
    // The text names each variable that is wrong after "at", and others in its hints.
    const wrong = Array.from(String(failure).matchAll(/\bat (?:\[")?(IDENTITY_\w+)/g), ([, name]) => name)
    const names = [...new Set(wrong)].join(", ")
    return `Missing or invalid environment variables: ${names}.\nexamples/guides/configuration.md lists all of them, and their alternatives.`
  }
  if (!Predicate.hasProperty(failure, "message")) return String(failure)
  return Predicate.hasProperty(failure, "_tag")
    ? `${String(failure._tag)}: ${String(failure.message)}`
    : String(failure)
}

/**
 * Runs a script with its arguments. Exit code 0; for a failure 1, with the failure on the standard error output; after Ctrl-C 130.
 */
export const run = <const Options extends NonNullable<ParseArgsConfig["options"]>, E>(
  usage: Usage<Options>,
  script: (
    args: Effect.Effect.Success<ReturnType<typeof parse<Options>>>
  ) => Effect.Effect<void, E, IdentityClient.IdentityClient>
): void =>
  parse(usage).pipe(
    Effect.flatMap((args) => Effect.provide(script(args), Node.layerConfig)),
    Effect.tapErrorCause((cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(redOnStderr(Cause.pretty(cause))),
        onSome: (failure) => Console.error(redOnStderr(describe(failure)))
      })
    ),
    Effect.provide(LoggerLive),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      disablePrettyLogger: true,
      teardown: (exit, onExit) =>
        Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
          ? onExit(130)
          : Runtime.defaultTeardown(exit, onExit)
    })
  )

/** What the scripts share: their arguments, the client from environment variables, and failures in one line. */
import { NodeRuntime } from "@effect/platform-node"
import { Cause, ConfigError, Console, Data, Effect, Logger, LogLevel, Option, Predicate } from "effect"
import type { IdentityClient } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import { parseArgs, type ParseArgsConfig } from "node:util"
import { alarm } from "./terminal.js"

/** Arguments that cannot be understood. */
class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

/** What a script takes: a line on how to call it, so many positional arguments, and options. */
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

/** A failure as a person wants to read it: its name and its message, no stack. */
export const describe = (failure: unknown): string => {
  if (ConfigError.isConfigError(failure)) {
    const names = [...new Set(String(failure).match(/IDENTITY_\w+/g))].join(", ")
    return `These environment variables are missing or wrong, or others in their place: ${names}.\nThe README says which.`
  }
  if (!Predicate.hasProperty(failure, "message")) return String(failure)
  return Predicate.hasProperty(failure, "_tag")
    ? `${String(failure._tag)}: ${String(failure.message)}`
    : String(failure)
}

/** Runs a script with its arguments: exit code 0, or 1 and the failure on the standard error output. */
export const run = <const Options extends NonNullable<ParseArgsConfig["options"]>, E>(
  usage: Usage<Options>,
  script: (
    args: Effect.Effect.Success<ReturnType<typeof parse<Options>>>
  ) => Effect.Effect<void, E, IdentityClient.IdentityClient>
): void =>
  parse(usage).pipe(
    Effect.flatMap((args) => Effect.provide(script(args), Node.layer)),
    Effect.tapErrorCause((cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(alarm(Cause.pretty(cause))),
        onSome: (failure) => Console.error(alarm(describe(failure)))
      })
    ),
    // What the library warns of is not what a script was asked for.
    Logger.withMinimumLogLevel(LogLevel.Error),
    NodeRuntime.runMain({ disableErrorReporting: true })
  )

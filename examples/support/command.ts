/** Runs a command of `@effect/cli`: `--help`, the client from environment variables, and exit codes. */
import { Command, HelpDoc, ValidationError } from "@effect/cli"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Data, Effect, Exit, Logger, Option } from "effect"
import * as Node from "effect-identity-client/Node"
import { describe } from "./script.js"
import { redOnStderr } from "./terminal.js"

/** Ends the command with an exit code, without a further message. */
export class Exited extends Data.TaggedError("Exited")<{ readonly code: number }> {}

/** The exit codes, for the `--help` of a command. */
export const exitCodes = (codes: Readonly<Record<number, string>>): HelpDoc.HelpDoc =>
  Object.entries({
    0: "success",
    1: "failure; the reason is on the standard error output",
    2: "invalid arguments",
    ...codes
  }).map(([code, meaning]) => HelpDoc.p(`Exit code ${code}: ${meaning}.`)).reduce(HelpDoc.sequence)

/** Provides the client, which is built after the arguments are parsed. */
export const withClient = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, Node.layer)

const codeOf = (cause: Cause.Cause<unknown>): number =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.isInterruptedOnly(cause) ? 130 : 1,
    onSome: (failure) => failure instanceof Exited ? failure.code : ValidationError.isValidationError(failure) ? 2 : 1
  })

/** Prints the failures that the command has not printed itself. */
const printFailure = (cause: Cause.Cause<unknown>) =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(redOnStderr(Cause.pretty(cause))),
    onSome: (failure) =>
      failure instanceof Exited || ValidationError.isValidationError(failure)
        ? Effect.void
        : Console.error(redOnStderr(describe(failure)))
  })

/** Logs go to the standard error output, because the standard output belongs to the command. */
const logToStderr = Logger.replace(Logger.defaultLogger, Logger.prettyLogger({ stderr: true }))

/** Runs a command with the arguments of the process. */
export const runCommand = <Name extends string, E, A>(
  name: Name,
  command: Command.Command<Name, NodeContext.NodeContext, E, A>
): void =>
  Command.run(command, { name, version: "0.1.0" })(process.argv).pipe(
    Effect.tapErrorCause(printFailure),
    Effect.provide([NodeContext.layer, logToStderr]),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      disablePrettyLogger: true,
      teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : codeOf(exit.cause))
    })
  )

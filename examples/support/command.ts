/** Runs a command of `@effect/cli` as a script: `--help`, the client from the environment, and exit codes for scripts. */
import { Command, HelpDoc, ValidationError } from "@effect/cli"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Data, Effect, Exit, Logger, Option } from "effect"
import * as Node from "effect-identity-client/Node"
import { describe } from "./script.js"
import { alarm } from "./terminal.js"

/** Ends the script with an exit code; what there is to say has been said. */
export class Exited extends Data.TaggedError("Exited")<{ readonly code: number }> {}

/** The part of a `--help` on exit codes. */
export const exitCodes = (codes: Readonly<Record<number, string>>): HelpDoc.HelpDoc =>
  Object.entries({
    0: "all is well",
    1: "it could not be done; the reason is on the standard error output",
    2: "the arguments cannot be understood",
    ...codes
  }).map(([code, meaning]) => HelpDoc.p(`Exit code ${code}: ${meaning}.`)).reduce(HelpDoc.sequence)

/** The client, built when the arguments are understood. */
export const withClient = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, Node.layer)

const codeOf = (cause: Cause.Cause<unknown>): number =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.isInterruptedOnly(cause) ? 130 : 1,
    onSome: (failure) => failure instanceof Exited ? failure.code : ValidationError.isValidationError(failure) ? 2 : 1
  })

/** What the command itself has not said yet. */
const tell = (cause: Cause.Cause<unknown>) =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.isInterruptedOnly(cause) ? Effect.void : Console.error(alarm(Cause.pretty(cause))),
    onSome: (failure) =>
      failure instanceof Exited || ValidationError.isValidationError(failure)
        ? Effect.void
        : Console.error(alarm(describe(failure)))
  })

/** The standard output is the command's own: what is logged goes to the standard error output. */
const notes = Logger.replace(Logger.defaultLogger, Logger.prettyLogger({ stderr: true }))

/** Runs a command with the arguments of the process. */
export const runCommand = <Name extends string, E, A>(
  name: Name,
  command: Command.Command<Name, NodeContext.NodeContext, E, A>
): void =>
  Command.run(command, { name, version: "0.1.0" })(process.argv).pipe(
    Effect.tapErrorCause(tell),
    Effect.provide([NodeContext.layer, notes]),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      disablePrettyLogger: true,
      teardown: (exit, onExit) => onExit(Exit.isSuccess(exit) ? 0 : codeOf(exit.cause))
    })
  )

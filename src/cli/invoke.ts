/** Runs a command with its arguments. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { version } from "../internal/http/requestEncoder.js"
import { type Definition, type Environment, program } from "./shared/definition.js"
import { codeOf, Exited, WrongUsage } from "./shared/exit.js"
import { runCommands } from "./shared/parser.js"
import { Stdio } from "./shared/stdio.js"

/** Writes `--only a b` as `--only a --only b`, since an option takes one value. */
const spread = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const result: Array<string> = []
  let option: string | undefined
  for (const arg of args) {
    const repeats = option !== undefined && !arg.startsWith("-")
    const [previous] = result.slice(-1)
    if (repeats && previous !== option) result.push(String(option))
    result.push(arg)
    if (!repeats) option = arg === "--only" || arg === "--group" ? arg : undefined
  }
  return result
}

/** Runs the parser. Its wizard asks for the arguments, and would wait for ever where nobody can reply. */
const parse = ({ command }: Definition, args: ReadonlyArray<string>) =>
  Effect.flatMap(
    Stdio,
    ({ inputIsTerminal, output }) =>
      args.some((arg) => /^--wizard(?:=|$)/.test(arg)) && !(inputIsTerminal && output.isTerminal)
        ? new WrongUsage({ message: "Nobody can be asked without a terminal: give the arguments instead of --wizard." })
        : runCommands(program, version, [command], args)
  )

export const isHelp = (arg: string): boolean => arg === "--help" || arg === "-h"

/** Prints what an effect failed with, with the usage if that was wrong, and fails with the exit code. */
export const exiting = <A, R>(effect: Effect.Effect<A, unknown, R>, usage: string): Effect.Effect<A, Exited, R> =>
  Effect.catchAllCause(effect, (cause) => Effect.flatMap(codeOf(cause, usage), (code) => new Exited({ code })))

/** Runs a command, or prints its help. The first argument is its name. */
export const invoke = (
  definition: Definition,
  args: ReadonlyArray<string>
): Effect.Effect<void, Exited, Environment> =>
  args.slice(1).some(isHelp)
    ? Console.log(definition.help)
    : exiting(parse(definition, spread(args)), definition.usage)

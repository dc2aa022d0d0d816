/** The command `effect-identity-client`: finds the command that is meant, and loads no other. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { version } from "../internal/http/requestEncoder.js"
import { catalog } from "./catalog.js"
import { exiting, invoke, isHelp } from "./invoke.js"
import { type Environment, program, section } from "./shared/definition.js"
import { Exited } from "./shared/exit.js"
import { printCompletions } from "./shared/parser.js"
import { bold, complain, withoutColours, wrap } from "./shared/text.js"

const usage = `Usage: ${program} COMMAND …, or COMMAND --help`

const help = [
  bold(`${program} ${version}`),
  "Whole jobs on a tenant of an identity service, from the command line.",
  "",
  usage,
  ...section("Commands", Object.entries(catalog).map(([name, { summary }]) => [name, summary])),
  ...section("Options", [
    ["--help", "this text; after a command, its arguments, options and exit codes"],
    ["--version", "the version"],
    ["--completions SHELL", "a script that completes commands and options: bash, zsh or fish"]
  ]),
  ...section("Variables", [
    ["IDENTITY_DOMAIN", "the tenant; or IDENTITY_BASE_URL and IDENTITY_AUTH_URL"],
    ["IDENTITY_CLIENT_ID", "the client, with IDENTITY_CLIENT_SECRET or a key; or IDENTITY_TOKEN"],
    ["NO_COLOR", "writes no colours; they are written to terminals only"]
  ])
].join("\n")

const run = (args: ReadonlyArray<string>): Effect.Effect<void, unknown, Environment> => {
  const [name = ""] = args
  if (isHelp(name)) return Console.log(help)
  if (name === "--completions") {
    return Effect.flatMap(
      Effect.forEach(Object.values(catalog), ({ load }) => load),
      (all) => printCompletions(program, all.map(({ command }) => command), args)
    )
  }
  const entry = Object.hasOwn(catalog, name) ? catalog[name] : undefined
  if (entry === undefined) {
    const problem = name === "" ? "Name a command." : `There is no command "${name}".`
    return Effect.zipRight(
      complain(`${problem}\n\n${usage}\n${wrap(`Commands: ${Object.keys(catalog).join(", ")}`, 80).join("\n")}`),
      new Exited({ code: 2 })
    )
  }
  return Effect.flatMap(entry.load, (definition) => invoke(definition, args))
}

/** Runs the command with the arguments of a process. It fails with the exit code; the reason has been printed. */
export const command = (args: ReadonlyArray<string>): Effect.Effect<void, Exited, Environment> =>
  withoutColours(exiting(run(args), usage))

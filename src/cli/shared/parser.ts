/** The parser of the command line: the only module that runs it, or reads what it tells about arguments and failures. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as HelpDoc from "@effect/cli/HelpDoc"
import type { Span } from "@effect/cli/HelpDoc/Span"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import type * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import type * as Types from "effect/Types"

/** The things that the parser needs. */
export type ParserEnvironment = FileSystem.FileSystem | Path.Path | Terminal.Terminal

/** A command as the parser knows it. It needs `R`. */
export type ParserCommand<R> = Command.Command<string, R, unknown, unknown>

/** The arguments and options of a command. */
export type Config = Command.Command.Config

/** The values that the parser makes of them. */
export type Parsed<C extends Config> = Types.Simplify<Command.Command.ParseConfig<C>>

/** A row of a help: a name and its text. */
export type Row = readonly [name: string, text: string]

const textOf = (span: Span): string =>
  span._tag === "Sequence"
    ? textOf(span.left) + textOf(span.right)
    : typeof span.value === "string"
    ? span.value
    : textOf(span.value)

/** The text of a description, which the parser puts after a sentence on the type. */
const paragraphs = (doc: HelpDoc.HelpDoc): ReadonlyArray<string> =>
  doc._tag === "Sequence"
    ? [...paragraphs(doc.left), ...paragraphs(doc.right)]
    : doc._tag === "Paragraph"
    ? [textOf(doc.value)]
    : []

const rowsIn = (doc: HelpDoc.HelpDoc): ReadonlyArray<Row> =>
  doc._tag === "Sequence"
    ? [...rowsIn(doc.left), ...rowsIn(doc.right)]
    : doc._tag === "DescriptionList"
    ? doc.definitions.map(([name, text]) => [textOf(name).replace(/^\((.*)\)$/, "$1"), paragraphs(text)[1] ?? ""])
    : []

const rowsOf = (config: Config, kind: "argument" | "flag"): ReadonlyArray<Row> =>
  Object.values(config).flatMap((value) => {
    if (Args.isArgs(value)) return kind === "argument" ? rowsIn(Args.getHelp(value)) : []
    return Options.isOptions(value) && kind === "flag" ? rowsIn(Options.getHelp(value)) : []
  })

export const argumentRows = (config: Config): ReadonlyArray<Row> => rowsOf(config, "argument")

export const optionRows = (config: Config): ReadonlyArray<Row> => rowsOf(config, "flag")

/** Makes a command. `R` is all that its handler needs. */
export const makeCommand = <const C extends Config, E, R>(
  name: string,
  config: C,
  run: (parsed: Parsed<C>) => Effect.Effect<void, E, R>
): ParserCommand<R> =>
  // sound: the command passes nothing to its handler but what it has parsed
  Command.make(name, config, run) as never

/** Fails for a value that an argument cannot have. */
export const refuse = (message: string) => Effect.fail(HelpDoc.p(message))

/** Tells the failures of the parser, which has printed their messages. */
export const isParserFailure: (failure: unknown) => boolean = ValidationError.isValidationError

/**
 * Corrects the parser's script for bash. It looks for the commands of `a__b`, but remembers `a-b`, and so completes the options of none;
 * and it separates the values of an option by commas, which bash takes for one value.
 */
const corrected = (program: string) => (script: string): string => {
  const name = program.replaceAll("-", "__")
  return script.replaceAll(`cmd="${program}"`, `cmd="${name}"`).replaceAll(` ${program})`, ` ${name})`)
    .replace(/(?<=compgen -W ")[\w,-]+(?=")/g, (values) => values.replaceAll(",", " "))
}

/** Prints the script that completes commands and options in a shell, which the arguments name. */
export const printCompletions = <R>(
  program: string,
  commands: ReadonlyArray<ParserCommand<R>>,
  args: ReadonlyArray<string>
): Effect.Effect<void, unknown, ParserEnvironment | R> =>
  Effect.flatMap(Effect.console, (real) =>
    Effect.withConsole(runCommands(program, "", commands, args), {
      ...real,
      log: (script) => real.log(corrected(program)(String(script)))
    }))

/** Parses arguments, and runs the command that the first one names. */
export const runCommands = <R>(
  program: string,
  version: string,
  [first, ...others]: ReadonlyArray<ParserCommand<R>>,
  args: ReadonlyArray<string>
): Effect.Effect<void, unknown, ParserEnvironment | R> =>
  first === undefined
    ? Effect.void
    : Command.run(Command.make(program).pipe(Command.withSubcommands([first, ...others])), { name: program, version })([
      "node",
      program,
      ...args
    ])

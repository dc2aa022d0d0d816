/** The parser of the command line: the only module that runs it, or reads what it tells about arguments and failures. */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as CliError from "effect/cli/CliError"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Param from "effect/cli/Param"
import * as Primitive from "effect/cli/Primitive"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type * as Terminal from "effect/Terminal"
import { complain } from "./text.js"

/** The things that the parser needs. */
export type ParserEnvironment = FileSystem.FileSystem | Path.Path | Terminal.Terminal

/** A command as the parser knows it. It needs `R`. */
export type ParserCommand<R> = Command.Command<string, unknown, unknown, unknown, R>

/** The arguments and options of a command. */
export type Config = { readonly [name: string]: Param.Any }

/** The values that the parser makes of them. */
export type Parsed<C extends Config> = Command.Command.Config.Infer<C>

/** A row of a help: a name and its text. */
export type Row = readonly [name: string, text: string]

/** The parameter within those that change its value, and whether it may be repeated. */
const innermost = (param: Param.Any, isRepeated = false): readonly [Param.Single<Param.ParamKind, unknown>, boolean] =>
  Param.isSingle(param)
    ? [param, isRepeated]
    : innermost((param as Param.Optional<Param.ParamKind, unknown>).param, isRepeated || param._tag === "Variadic") // sound: all others have one within

/** The word for the values of an option; none for one that has no value. */
const typeName = (type: Primitive.Primitive<unknown>): string => {
  // Sound: two kinds have these.
  const { choiceKeys, pathType } = type as { readonly choiceKeys?: ReadonlyArray<string>; readonly pathType?: string }
  const name = choiceKeys?.join(" | ") ?? pathType ?? Primitive.getTypeName(type).replace("string", "text")
  return type._tag === "Boolean" ? "" : ` ${name}`
}

const rowsOf = (config: Config, kind: Param.ParamKind): ReadonlyArray<Row> =>
  Object.values(config).filter((param) => param.kind === kind).map((param) => {
    const [{ aliases, description, name, primitiveType }, isRepeated] = innermost(param)
    const names = kind === "argument"
      ? `<${name}>`
      : `${[...aliases.map((alias) => `-${alias}`), `--${name}`].join(", ")}${typeName(primitiveType)}`
    return [`${names}${isRepeated ? "..." : ""}`, Option.getOrElse(description, () => "")]
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
export const refuse = (message: string) => Effect.fail(new CliError.ValidationError({ message }))

/** Tells the failures of the parser, which has printed their messages. */
export const isParserFailure: (failure: unknown) => boolean = CliError.isCliError

/** Prints what is wrong, without the parser's own help. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? complain(`${event.errors.map(({ message }) => message).join("\n")}\n`)
      : CliOutput.defaultPresenter.present(event)
}

/** Parses arguments, and runs the command that the first one names. */
export const runCommands = <R>(
  program: string,
  version: string,
  [first, ...others]: ReadonlyArray<ParserCommand<R>>,
  args: ReadonlyArray<string>
): Effect.Effect<void, unknown, ParserEnvironment | R> =>
  first === undefined
    ? Effect.void
    : Command.runWith(Command.make(program).pipe(Command.withSubcommands([first, ...others])), { version })(args).pipe(
      Effect.provideService(CliOutput.Presenter, presenter),
      Effect.provide(Layer.merge(NodeChildProcessSpawner.layer, NodeStdio.layer))
    )

/** Prints the script that completes commands and options in a shell, which the arguments name. */
export const printCompletions = <R>(
  program: string,
  commands: ReadonlyArray<ParserCommand<R>>,
  args: ReadonlyArray<string>
): Effect.Effect<void, unknown, ParserEnvironment | R> => runCommands(program, "", commands, args)

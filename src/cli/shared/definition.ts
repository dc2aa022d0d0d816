/** A command with its help, which fits a screen of 80 columns. */
import * as Args from "@effect/cli/Args"
import type { CliApp } from "@effect/cli/CliApp"
import * as Command from "@effect/cli/Command"
import type * as HelpDoc from "@effect/cli/HelpDoc"
import type { Span } from "@effect/cli/HelpDoc/Span"
import * as Options from "@effect/cli/Options"
import type * as Effect from "effect/Effect"
import type * as Types from "effect/Types"
import { codes } from "./exit.js"
import type { Stdio } from "./stdio.js"
import { bold, wrap } from "./text.js"

export const program = "effect-identity-client"

export type Environment = CliApp.Environment | Stdio

export interface Definition {
  /** The usage in lines of 80 columns. */
  readonly usage: string
  readonly help: string
  readonly command: Command.Command<string, Environment, unknown, unknown>
}

type Row = readonly [name: string, text: string]

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

const rowsOf = (doc: HelpDoc.HelpDoc): ReadonlyArray<Row> =>
  doc._tag === "Sequence"
    ? [...rowsOf(doc.left), ...rowsOf(doc.right)]
    : doc._tag === "DescriptionList"
    ? doc.definitions.map(([name, text]) => [textOf(name).replace(/^\((.*)\)$/, "$1"), paragraphs(text)[1] ?? ""])
    : []

const width = 80

/** A heading with rows of a name and its text, aligned. */
export const section = (title: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const column = Math.min(24, Math.max(...rows.map(([name]) => name.length)))
  return rows.length === 0 ? [] : [
    "",
    bold(title),
    ...rows.flatMap(([name, text]) => {
      const [first = "", ...others] = wrap(text, width - column - 4)
      const lead = name.length > column ? [`  ${name}`, `${" ".repeat(column + 4)}${first}`] : [
        `  ${name.padEnd(column)}  ${first}`
      ]
      return [...lead, ...others.map((line) => `${" ".repeat(column + 4)}${line}`)]
    })
  ]
}

/** Defines a command. `usage` names its arguments and the options that matter. */
export const define = <const Config extends Command.Command.Config, E>(settings: {
  readonly name: string
  readonly usage: string
  readonly about: string
  /** The meaning of exit codes that other commands do not have. */
  readonly codes?: Readonly<Record<number, string>>
  readonly config: Config
  readonly run: (
    parsed: Types.Simplify<Command.Command.ParseConfig<Config>>
  ) => Effect.Effect<void, E, Environment>
}): Definition => {
  const { about, config, name, run } = settings
  const values = Object.values(config)
  const usage = wrap(`Usage: ${program} ${name} ${settings.usage}`, width - 9).join("\n         ")
  const exitCodes = Object.entries({ ...codes, ...settings.codes })
  const made = Command.make(name, config, run)
  return {
    usage,
    help: [
      ...wrap(about, width),
      "",
      usage,
      ...section("Arguments", values.flatMap((value) => Args.isArgs(value) ? rowsOf(Args.getHelp(value)) : [])),
      ...section("Options", values.flatMap((value) => Options.isOptions(value) ? rowsOf(Options.getHelp(value)) : [])),
      ...section("Exit codes", exitCodes.map(([code, meaning]) => [code, meaning]))
    ].join("\n"),
    // sound: the command passes nothing to its handler but what it has parsed
    command: made as never
  }
}

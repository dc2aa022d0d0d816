/** A command with its help, which fits a screen of 80 columns. */
import type * as Effect from "effect/Effect"
import { codes } from "./exit.js"
import {
  argumentRows,
  type Config,
  makeCommand,
  optionRows,
  type Parsed,
  type ParserCommand,
  type ParserEnvironment,
  type Row
} from "./parser.js"
import type { Stdio } from "./stdio.js"
import { bold, wrap } from "./text.js"

export const program = "effect-identity-client"

export type Environment = ParserEnvironment | Stdio

export interface Definition {
  /** The usage in lines of 80 columns. */
  readonly usage: string
  readonly help: string
  readonly command: ParserCommand<Environment>
}

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
export const define = <const C extends Config, E>(settings: {
  readonly name: string
  readonly usage: string
  readonly about: string
  /** The meaning of exit codes that other commands do not have. */
  readonly codes?: Readonly<Record<number, string>>
  readonly config: C
  readonly run: (parsed: Parsed<C>) => Effect.Effect<void, E, Environment>
}): Definition => {
  const { about, config, name, run } = settings
  const usage = wrap(`Usage: ${program} ${name} ${settings.usage}`, width - 9).join("\n         ")
  const exitCodes = Object.entries({ ...codes, ...settings.codes })
  return {
    usage,
    help: [
      ...wrap(about, width),
      "",
      usage,
      ...section("Arguments", argumentRows(config)),
      ...section("Options", optionRows(config)),
      ...section("Exit codes", exitCodes.map(([code, meaning]) => [code, meaning]))
    ].join("\n"),
    command: makeCommand(name, config, run)
  }
}

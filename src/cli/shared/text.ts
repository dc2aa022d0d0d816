/** Text for terminals: colours, tables, wrapped lines, and text of the service without control characters. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { Stdio } from "./stdio.js"

const escape = "\u001b"

const colour = (code: number) => (text: string): string => `${escape}[${code}m${text}${escape}[0m`

export const bold = colour(1)
export const dim = colour(2)
export const red = colour(31)
export const green = colour(32)
export const yellow = colour(33)

const colours = new RegExp(`${escape}\\[[\\d;]*m`, "g")

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Shows control characters as escapes, so that what the service sends cannot steer the terminal. Line feeds and tabs stay. */
export const printable = (text: string): string => text.replace(/(?![\n\t])\p{Cc}/gu, escaped)

/** Shows line feeds and tabs as escapes, too, so that the text stays in its line. */
export const printableLine = (text: string): string => text.replace(/\p{Cc}/gu, escaped)

/** Writes a value as a line of JSON without any control character: JSON allows those from U+007F on. */
export const jsonLine = (value: unknown): string => printableLine(JSON.stringify(value))

/** Writes a number with its noun: `1 event`, `2 events`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Removes colours from what an effect writes to outputs that are no terminals, or with `NO_COLOR`. */
export const withoutColours = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Stdio> =>
  Effect.gen(function*() {
    const { errorOutput, output } = yield* Stdio
    const real = yield* Effect.console
    const plain = (write: Console.Console["log"]): Console.Console["log"] => (...texts) =>
      write(...texts.map((text) => String(text).replace(colours, "")))
    return yield* Effect.withConsole(effect, {
      ...real,
      log: output.colours ? real.log : plain(real.log),
      error: errorOutput.colours ? real.error : plain(real.error)
    })
  })

/** Separates columns by two blanks; numbers are right-aligned. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string | number>>): string => {
  const texts = rows.map((row) => row.map((cell) => printableLine(String(cell))))
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)))
  return texts.map((row, nth) =>
    row.map((cell, column) =>
      typeof rows[nth]?.[column] === "number" ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
    ).join("  ").trimEnd()
  ).join("\n")
}

/** Breaks text into lines between words. A longer word has a line of its own. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.length - 1
    const line = lines[last]
    if (line !== undefined && line.length + 1 + word.length <= width) lines[last] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

export const complain = (message: string): Effect.Effect<void> => Console.error(red(message))

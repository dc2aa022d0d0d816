/** Rows of an export, and how a row becomes a value. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type { Issue } from "../../Errors.js"
import { issuesOf } from "../schema/parseIssues.js"
import { UndecodableRow } from "./exportError.js"
import { marks } from "./lines.js"

/** A user of an export in JSON, or a row in CSV, whose fields are all strings. @since 0.1.0 @category models */
export type Row = Readonly<Record<string, unknown>>

/** A decoded row, or why there is none. */
export type RowResult<A> = Either.Either<A, UndecodableRow>

/** The most rows that are read in one piece: a bad one takes up to 20 µs, for two errors (`npm run bench:blocking`). */
export const maxRowsAtOnce = 256

/** Makes rows of text that comes in whole lines. */
export interface RowParser<A> {
  readonly push: (lines: string) => void
  /** Ends the file. */
  readonly end: () => void
  /** Adds the next rows to a list, at most `maxRowsAtOnce`. Returns whether more may be left. */
  readonly read: (rows: Array<RowResult<A>>) => boolean
}

export type DecodeRow<A> = (row: Row) => Either.Either<A, Issue>

/** The decoder of a schema; without one, rows stay as they are. */
export const makeDecoder = <A, I>(schema: Schema.Schema<A, I> | undefined): DecodeRow<A> => {
  if (schema === undefined) return Either.right as DecodeRow<A> // sound: without a schema, `A` is `Row`
  const decode = ParseResult.decodeUnknownEither(schema)
  return (row) => Either.mapLeft(decode(row), (issue) => issuesOf(issue)[0])
}

const maxShown = 64 * 1024

// By Unicode's rules, a surrogate in a pair is part of a character, and no match.
const isTooLong = new RegExp(marks.tooLong, "u")
const isInvalid = new RegExp(marks.invalid, "u")
const anyMark = new RegExp(`${marks.invalid}|${marks.tooLong}(,")?`, "gu")

export const undecodable = (line: number, text: string, message: string, path = ""): UndecodableRow =>
  new UndecodableRow({
    line,
    message: `line ${line}${path === "" ? "" : `, ${path}`}: ${message}`,
    path,
    raw: Redacted.make(text.slice(0, maxShown).replace(anyMark, ""))
  })

/** Tells that a line of a text is too long. */
export const hasLongLine = (text: string): boolean => isTooLong.test(text)

/** The problem of a row whose text has a mark. */
export const markProblem = (text: string): string | undefined =>
  hasLongLine(text)
    ? "the line is too long"
    : isInvalid.test(text)
    ? "the line is not valid UTF-8"
    : undefined

/** Decodes a row of a text that begins on a line. */
export const decoded = <A>(decode: DecodeRow<A>, row: Row, line: number, text: string): RowResult<A> => {
  const result = decode(row)
  return Either.isRight(result)
    ? result as Either.Either<A, never> // sound: it is a value
    : Either.left(undecodable(line, text, result.left.message, result.left.path))
}

/** Parses CSV (RFC 4180) with a header row, block by block. */
import * as Either from "effect/Either"
import { marks } from "./lines.js"
import {
  decoded,
  type DecodeRow,
  hasLongLine,
  markProblem,
  maxRowsAtOnce,
  type RowParser,
  type RowResult,
  undecodable
} from "./rows.js"

const quote = 0x22
const comma = 0x2c
const newline = 0x0a
const carriageReturn = 0x0d

export interface CsvOptions {
  /** Removes the single quote that the service puts before each string. */
  readonly undoGuard: boolean
  /** The longest row in bytes. */
  readonly maxLength: number
}

/** A row that was read. */
interface ReadRow {
  readonly fields: ReadonlyArray<string>
  /** The index after its newline, or after the character at which a problem was found. */
  readonly end: number
  /** Why it is no valid row. */
  readonly problem?: string
}

const invalid = marks.invalid.charCodeAt(0)
const tooLong = marks.tooLong.charCodeAt(0)
const isMark = (code: number): boolean => code === invalid || code === tooLong

const endOfLine = (text: string, index: number): number => text.indexOf("\n", index) + 1

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })

/** Makes one quote of each two, in bytes: to join the parts of a text of many quotes takes several times as long. */
const withSingleQuotes = (field: string): string => {
  const bytes = utf8.encode(field)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[length++] = bytes[at] ?? 0
    if (byte === quote) at++
  }
  return fromUtf8.decode(bytes.subarray(0, length))
}

/** Reads rows of a text of whole lines. A row that has not ended is left. */
class Reader {
  text = ""
  /** The index of the next character. */
  at = 0
  /** The line of the next character. */
  line = 1
  private readonly undoGuard: boolean

  constructor(undoGuard: boolean) {
    this.undoGuard = undoGuard
  }

  /** Reads the row that is next. `undefined`: it has not ended, because a quote is not closed. */
  row(): ReadRow | undefined {
    const { text } = this
    const fields: Array<string> = []
    for (let at = this.at;;) {
      let field: string
      if (text.charCodeAt(at) === quote) {
        const begin = ++at
        let hasDoubled = false
        for (;;) {
          at = text.indexOf("\"", at)
          if (at < 0) return undefined
          if (text.charCodeAt(at + 1) !== quote) break
          hasDoubled = true
          at += 2
        }
        field = text.slice(begin, at++)
        if (hasDoubled) field = withSingleQuotes(field)
        if (this.undoGuard && field.charCodeAt(0) === 0x27) field = field.slice(1)
        if (text.charCodeAt(at) === carriageReturn) {
          const next = text.charCodeAt(at + 1)
          if (next === newline || isMark(next)) at++
        }
        if (isMark(text.charCodeAt(at))) at++
      } else {
        const begin = at
        let code = text.charCodeAt(at)
        while (code !== comma && code !== newline && code !== quote) code = text.charCodeAt(++at)
        const end = code === newline && at > begin && text.charCodeAt(at - 1) === carriageReturn ? at - 1 : at
        field = text.slice(begin, end)
      }
      fields.push(field)
      const code = text.charCodeAt(at++)
      if (code === comma) continue
      return code === newline ? { fields, end: at } : { fields, end: at, problem: "a double quote is out of place" }
    }
  }

  /** Goes on at an index, where a line begins. */
  goTo(index: number): void {
    for (let n = this.text.indexOf("\n", this.at); n >= 0 && n < index; n = this.text.indexOf("\n", n + 1)) this.line++
    this.at = index
  }

  /** Goes on within a field in quotes, whose text so far is not kept. */
  goOnQuoted(): void {
    this.goTo(this.text.length)
    this.text = "\""
    this.at = 0
  }
}

/**
 * Tells that a row is too long, wherever the blocks of text end: by the lines that belong to it for certain. Its last newline does not
 * count.
 */
const isTooLong = (
  text: string,
  start: number,
  row: ReadRow | undefined,
  hasMark: boolean,
  maxBytes: number
): boolean => {
  const end = row === undefined
    ? text.length
    : row.problem === undefined
    ? row.end
    : text.lastIndexOf("\n", row.end - 1) + 1
  const length = end - 1 - start
  // The text has at most three bytes for each unit of its length.
  return (length * 3 > maxBytes && (length > maxBytes || utf8.encode(text.slice(start, end - 1)).length > maxBytes)) ||
    (hasMark && hasLongLine(text.slice(start, end)))
}

/** Names the columns. A title that comes again gets a number, such as `email (2)`, so that no column hides another. */
const namesOf = (titles: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = new Set(titles)
  const counts = new Map<string, number>()
  return titles.map((title) => {
    let count = (counts.get(title) ?? 0) + 1
    while (count > 1 && all.has(`${title} (${count})`)) count++
    counts.set(title, count)
    return count === 1 ? title : `${title} (${count})`
  })
}

/** Makes an object of a row; `__proto__` is a name like any other. */
const makeRecord = (header: ReadonlyArray<string>): (fields: ReadonlyArray<string>) => Record<string, string> =>
  header.includes("__proto__")
    ? (fields) => Object.fromEntries(header.map((name, nth) => [name, fields[nth] ?? ""]))
    : (fields) => {
      const record: Record<string, string> = {}
      for (let nth = 0; nth < header.length; nth++) record[header[nth] ?? ""] = fields[nth] ?? ""
      return record
    }

/** An object with more names takes too long: one with 500,000 takes 350 ms. */
const maxColumns = 10_000

const notClosed: ReadRow = { fields: [], end: 0, problem: "a double quote is not closed" }

/**
 * Makes a parser. A row that is no valid one ends with its first line, because a stray quote would make the rest of the file one field.
 * One that is too long is not kept, so it ends with the row, or with the line on which a quote is out of place: what is within its
 * quotes never becomes a row. Where no quote closes, that is the rest of the file.
 */
export const makeCsvParser = <A>(decode: DecodeRow<A>, { maxLength, undoGuard }: CsvOptions): RowParser<A> => {
  const reader = new Reader(undoGuard)
  let columns = 0
  let isHeaderBad = false
  let recordOf: ((fields: ReadonlyArray<string>) => Record<string, string>) | undefined
  /** The line and the text with which a row begins that is too long and has not ended yet. */
  let long: { readonly line: number; readonly text: string } | undefined

  /** The text that has come since the last row was read. */
  let added = ""
  let hasMark = false
  let isEnd = false
  /** A row that has not ended is read again once the text is twice as long: else each block would read all of it again. */
  let isOpen = false

  const read = (rows: Array<RowResult<A>>): boolean => {
    if (isOpen && !isEnd && added.length < reader.text.length) return false
    const limit = rows.length + maxRowsAtOnce
    reader.text += added
    if (added !== "") hasMark = markProblem(reader.text) !== undefined
    added = ""
    isOpen = false
    while (reader.at < reader.text.length && rows.length < limit) {
      const { at: start, line, text } = reader
      const row = reader.row()
      isOpen = row === undefined && !isEnd
      if (long !== undefined || isTooLong(text, start, row, hasMark, maxLength)) {
        long ??= { line, text: text.slice(start, endOfLine(text, start) - 1) }
        if (isOpen) {
          reader.goOnQuoted()
          break
        }
        reader.goTo(row === undefined ? text.length : endOfLine(text, row.end - 1))
        const cause = row === undefined || row.problem !== undefined ? ", or a double quote is not closed" : ""
        const last = reader.line - 1
        const end = last === long.line ? "" : `: it is left out up to line ${last}`
        rows.push(Either.left(undecodable(long.line, long.text, `the row is too long${cause}${end}`)))
        isHeaderBad ||= recordOf === undefined
        long = undefined
        continue
      }
      if (isOpen) break
      const { end, fields, problem } = row ?? notClosed
      reader.goTo(problem === undefined ? end : endOfLine(text, start))
      const own = () => text.slice(start, reader.at - 1)
      const bad = (message: string) => rows.push(Either.left(undecodable(line, own(), message)))
      const mark = hasMark ? markProblem(own()) : undefined
      const tooMany = recordOf === undefined && fields.length > maxColumns
      if (mark !== undefined || problem !== undefined || tooMany) {
        isHeaderBad ||= recordOf === undefined
        bad(mark ?? problem ?? "the header row has more than 10,000 columns")
      } else if (isHeaderBad) bad("the header row cannot be read")
      // An empty line, which is a row only where there is one column: a value that is missing.
      else if (columns !== 1 && fields.length === 1 && fields[0] === "" && reader.at - start <= 2) continue
      else if (recordOf === undefined) {
        columns = fields.length
        recordOf = makeRecord(namesOf(fields))
      } else if (fields.length !== columns) bad(`expected ${columns} fields, not ${fields.length}`)
      else rows.push(decoded(decode, recordOf(fields), line, own()))
    }
    reader.text = reader.text.slice(reader.at)
    reader.at = 0
    return reader.text !== "" && !isOpen
  }

  return {
    push: (lines) => {
      added += lines
    },
    end: () => {
      isEnd = true
    },
    read
  }
}

/** Parses CSV (RFC 4180) with a header row, block by block. */
import * as Either from "effect/Either"
import { decoded, type DecodeRow, markProblem, type RowParser, type RowResult, undecodable } from "./rows.js"

const quote = 0x22
const comma = 0x2c
const newline = 0x0a
const carriageReturn = 0x0d

export interface CsvOptions {
  /** Removes the single quote that the service puts before each string. */
  readonly undoGuard: boolean
  /** The longest row in characters. */
  readonly maxLength: number
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

  /**
   * Reads a row. `undefined`: it has not ended. `problem`: it is no valid row, and ends with its first line, because a stray quote
   * would make the rest of the file one field.
   */
  row(): { readonly fields: ReadonlyArray<string>; readonly problem?: string } | undefined {
    const { line: startLine, text } = this
    const start = this.at
    const fields: Array<string> = []
    for (let at = start;;) {
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
        for (let n = field.indexOf("\n"); n >= 0; n = field.indexOf("\n", n + 1)) this.line++
        if (hasDoubled) field = field.replaceAll("\"\"", "\"")
        if (this.undoGuard && field.charCodeAt(0) === 0x27) field = field.slice(1)
      } else {
        const begin = at
        let code = text.charCodeAt(at)
        while (code !== comma && code !== newline && code !== quote) code = text.charCodeAt(++at)
        const end = code === newline && at > begin && text.charCodeAt(at - 1) === carriageReturn ? at - 1 : at
        field = text.slice(begin, end)
      }
      fields.push(field)
      if (text.charCodeAt(at) === carriageReturn && text.charCodeAt(at + 1) === newline) at++
      const code = text.charCodeAt(at++)
      if (code === comma) continue
      if (code === newline) {
        this.at = at
        this.line++
        return { fields }
      }
      return this.skipLine("a double quote is out of place", start, startLine)
    }
  }

  /** Skips the first line of a row that is not valid, which begins at an index, on a line. */
  skipLine(problem: string, start: number, line: number) {
    this.at = this.text.indexOf("\n", start) + 1
    this.line = line + 1
    return { fields: [], problem }
  }
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

export const makeCsvParser = <A>(decode: DecodeRow<A>, { maxLength, undoGuard }: CsvOptions): RowParser<A> => {
  const reader = new Reader(undoGuard)
  let columns = 0
  let isHeaderBad = false
  let recordOf: ((fields: ReadonlyArray<string>) => Record<string, string>) | undefined

  const read = (isEnd: boolean, rows: Array<RowResult<A>>): void => {
    const hasMark = markProblem(reader.text) !== undefined
    while (reader.at < reader.text.length) {
      const { at: start, line } = reader
      const whole = reader.row()
      // A row is too long or not, wherever the blocks end. Its last newline does not count.
      const isLong = (whole === undefined ? reader.text.length : reader.at) - start - 1 > maxLength
      if (whole === undefined && !isEnd && !isLong) {
        reader.line = line
        break
      }
      const { fields, problem } = isLong
        ? reader.skipLine("the row is too long, or a double quote is not closed", start, line)
        : whole ?? reader.skipLine("a double quote is not closed", start, line)
      const text = () => reader.text.slice(start, reader.at - 1)
      const bad = (message: string) => rows.push(Either.left(undecodable(line, text(), message)))
      const mark = hasMark ? markProblem(text()) : undefined
      if ((mark ?? problem) !== undefined) {
        isHeaderBad ||= recordOf === undefined
        bad(mark ?? problem ?? "")
      } else if (isHeaderBad) bad("the header row cannot be read")
      // An empty line, which is a row only where there is one column: a value that is missing.
      else if (columns !== 1 && fields.length === 1 && fields[0] === "" && reader.at - start <= 2) continue
      else if (recordOf === undefined) {
        columns = fields.length
        recordOf = makeRecord(fields)
      } else if (fields.length !== columns) bad(`expected ${columns} fields, not ${fields.length}`)
      else rows.push(decoded(decode, recordOf(fields), line, reader.text.slice(start, reader.at - 1)))
    }
    reader.text = reader.text.slice(reader.at)
    reader.at = 0
  }

  return {
    push: (lines, rows) => {
      reader.text += lines
      read(false, rows)
    },
    end: (rows) => read(true, rows)
  }
}

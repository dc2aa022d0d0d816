/** Parses NDJSON: one JSON object on each line. */
import * as Either from "effect/Either"
import { decoded, type DecodeRow, markProblem, type Row, type RowParser, type RowResult, undecodable } from "./rows.js"

const isObject = (text: string): boolean => text.charCodeAt(0) === 0x7b

export const makeNdjsonParser = <A>(decode: DecodeRow<A>): RowParser<A> => {
  let line = 0

  const parse = (text: string): RowResult<A> => {
    // A mark makes the text no JSON. JSON itself would accept a number or a list.
    const row = isObject(text) ? Either.try((): Row => JSON.parse(text)) : undefined
    return row !== undefined && Either.isRight(row)
      ? decoded(decode, row.right, line, () => text)
      : Either.left(undecodable(line, text, markProblem(text) ?? "the line is not a JSON object"))
  }

  return {
    push: (lines) => {
      const rows: Array<RowResult<A>> = []
      for (let begin = 0; begin < lines.length;) {
        const end = lines.indexOf("\n", begin)
        const slice = lines.slice(begin, end)
        const text = isObject(slice) ? slice : slice.trim()
        line++
        if (text !== "") rows.push(parse(text))
        begin = end + 1
      }
      return rows
    },
    end: () => []
  }
}

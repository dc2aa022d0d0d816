/** Parses NDJSON: one JSON object on each line. */
import * as Either from "effect/Either"
import { parse } from "../runtime/parseJson.js"
import { hasRepeatedKey } from "./repeatedKeys.js"
import {
  decoded,
  type DecodeRow,
  markProblem,
  maxRowsAtOnce,
  type Row,
  type RowParser,
  type RowResult,
  undecodable
} from "./rows.js"

const isObject = (text: string): boolean => text.charCodeAt(0) === 0x7b

export const makeNdjsonParser = <A>(decode: DecodeRow<A>): RowParser<A> => {
  let line = 0
  let lines = ""
  /** The index of the next line. */
  let begin = 0

  const read = (rows: Array<RowResult<A>>): boolean => {
    const limit = rows.length + maxRowsAtOnce
    let text = ""
    let row: Row | undefined

    const bad = () =>
      rows.push(Either.left(undecodable(line, text, markProblem(text) ?? "the line is not a JSON object")))

    /** Parses lines until one throws: to catch that for each line would cost an object more a row. */
    const parseLines = (): void => {
      while (begin < lines.length && rows.length < limit) {
        const end = lines.indexOf("\n", begin)
        text = lines.slice(begin, end)
        begin = end + 1
        line++
        row = undefined
        if (!isObject(text)) text = text.trim()
        // JSON itself would accept a number or a list.
        if (isObject(text)) {
          row = parse(text) as Row // sound: it begins as an object
          rows.push(
            hasRepeatedKey(text, row)
              ? Either.left(undecodable(line, text, "a key occurs twice in one object"))
              : decoded(decode, row, line, text)
          )
        } else if (text !== "") bad()
      }
    }
    while (begin < lines.length && rows.length < limit) {
      if (Either.isLeft(Either.try(parseLines))) {
        if (row === undefined) bad()
        else decoded(decode, row, line, text) // what the schema throws is a defect: it throws again
      }
    }
    return begin < lines.length
  }

  return {
    push: (more) => {
      lines = lines.slice(begin) + more
      begin = 0
    },
    end: () => {},
    read
  }
}

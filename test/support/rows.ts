/** Reads all rows of an export that can be read. */
import type { RowParser, RowResult } from "../../src/internal/exports/rows.js"

export const readRows = <A>(parser: RowParser<A>, lines: string, rows: Array<RowResult<A>>): void => {
  parser.push(lines)
  while (parser.read(rows));
}

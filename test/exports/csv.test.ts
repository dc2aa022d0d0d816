/** The rows of CSV: fields, line numbers, and what is bad, however the text is split into blocks of whole lines. */
import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { type CsvOptions, makeCsvParser } from "../../src/internal/exports/csv.js"
import { marks } from "../../src/internal/exports/lines.js"
import { type DecodeRow, makeDecoder, type Row, type RowResult } from "../../src/internal/exports/rows.js"

interface Options extends Partial<CsvOptions> {
  readonly decode?: DecodeRow<Row>
}

const outline = (rows: ReadonlyArray<RowResult<Row>>): ReadonlyArray<string> =>
  rows.map(Either.match({
    onLeft: ({ message, raw }) => `${message} <${Redacted.value(raw)}>`,
    onRight: (row) => JSON.stringify(row)
  }))

/** The rows of a text that comes in these blocks. */
const parse = (blocks: ReadonlyArray<string>, { decode = makeDecoder(undefined), ...options }: Options = {}) => {
  const parser = makeCsvParser(decode, { undoGuard: false, maxLength: 1000, ...options })
  const rows: Array<RowResult<Row>> = []
  for (const block of blocks) parser.push(block, rows)
  parser.end(rows)
  return outline(rows)
}

const linesOf = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n/g) ?? []

describe("rows of CSV", () => {
  const cases: ReadonlyArray<readonly [title: string, text: string, rows: ReadonlyArray<string>, options?: Options]> = [
    ["of nothing are none", "", []],
    ["of a header are none", "a,b\n", []],
    ["have each field under its name", "a,b\n1,2\n3,4\n", ["{\"a\":\"1\",\"b\":\"2\"}", "{\"a\":\"3\",\"b\":\"4\"}"]],
    ["end with CRLF, too", "a,b\r\n1,2\r\n\"3\",\"4\"\r\n", [
      "{\"a\":\"1\",\"b\":\"2\"}",
      "{\"a\":\"3\",\"b\":\"4\"}"
    ]],
    ["keep a carriage return before a comma", "a,b\n1\r,2\n", ["{\"a\":\"1\\r\",\"b\":\"2\"}"]],
    ["keep a carriage return within a field", "a,b\n1\r2,3\n", ["{\"a\":\"1\\r2\",\"b\":\"3\"}"]],
    ["lose only the last carriage return before a newline", "a,b\n1,2\r\r\n", ["{\"a\":\"1\",\"b\":\"2\\r\"}"]],
    ["may be all empty", "a,b\n,\n\"\",\"\"\n", ["{\"a\":\"\",\"b\":\"\"}", "{\"a\":\"\",\"b\":\"\"}"]],
    ["may be empty at the end of a line with CRLF", "a,b\n1,\r\n", ["{\"a\":\"1\",\"b\":\"\"}"]],
    ["have quotes, commas and newlines in quotes", "a,b\n\"x,\"\"y\"\"\",\"\nz\n\"\n", [
      "{\"a\":\"x,\\\"y\\\"\",\"b\":\"\\nz\\n\"}"
    ]],
    ["may be one quote", "a,b\n\"\"\"\",\"\"\"\"\"\"\n", ["{\"a\":\"\\\"\",\"b\":\"\\\"\\\"\"}"]],
    ["may have a name `__proto__`", "__proto__,b\n1,2\n", ["{\"__proto__\":\"1\",\"b\":\"2\"}"]],
    ["have a text in quotes in the header", "\"a\nb\",c\n1,2\n3\n", [
      "{\"a\\nb\":\"1\",\"c\":\"2\"}",
      "line 4: expected 2 fields, not 1 <3>"
    ]],

    ["leave empty lines out, before the header and after", "\n\r\na,b\n\n\r\n1,2\n\n", ["{\"a\":\"1\",\"b\":\"2\"}"]],
    ["in quotes are no empty line", "a,b\n\"\"\n", ["line 2: expected 2 fields, not 1 <\"\">"]],
    ["of one column may be empty", "a\n\n\"\"\n\r\nx\n", [
      "{\"a\":\"\"}",
      "{\"a\":\"\"}",
      "{\"a\":\"\"}",
      "{\"a\":\"x\"}"
    ]],
    ["of one column may have no name", "\"\"\nx\n", ["{\"\":\"x\"}"]],

    ["count the newlines in fields, also the first and the last character", "a\n\"\nx\"\n\"y\n\"\n\"\n\n\"\n1,2\n", [
      "{\"a\":\"\\nx\"}",
      "{\"a\":\"y\\n\"}",
      "{\"a\":\"\\n\\n\"}",
      "line 9: expected 1 fields, not 2 <1,2>"
    ]],
    ["with too many fields are bad", "a,b\n1,2,3\n", ["line 2: expected 2 fields, not 3 <1,2,3>"]],
    ["with a quote within a field are bad", "a,b\n1,x\"y\n1,2\n", [
      "line 2: a double quote is out of place <1,x\"y>",
      "{\"a\":\"1\",\"b\":\"2\"}"
    ]],
    ["with text after a quote are bad", "a,b\n\"1\"x,2\n\"1\" ,2\n", [
      "line 2: a double quote is out of place <\"1\"x,2>",
      "line 3: a double quote is out of place <\"1\" ,2>"
    ]],
    ["with a carriage return between a quote and a comma are bad", "a,b\n\"1\"\r,2\n", [
      "line 2: a double quote is out of place <\"1\"\r,2>"
    ]],
    ["with a quote out of place end with their first line", "a,b\n\"1\n2\"x,3\n4,5\n", [
      "line 2: a double quote is out of place <\"1>",
      "line 3: a double quote is out of place <2\"x,3>",
      "{\"a\":\"4\",\"b\":\"5\"}"
    ]],
    ["whose quote is not closed end with their first line", "a,b\n1,2\n\"open,3\n4,5\n6\n", [
      "{\"a\":\"1\",\"b\":\"2\"}",
      "line 3: a double quote is not closed <\"open,3>",
      "{\"a\":\"4\",\"b\":\"5\"}",
      "line 5: expected 2 fields, not 1 <6>"
    ]],
    ["are all bad under a header that is bad", "a\"\n1\n\n2\n", [
      "line 1: a double quote is out of place <a\">",
      "line 2: the header row cannot be read <1>",
      "line 3: the header row cannot be read <>",
      "line 4: the header row cannot be read <2>"
    ]],
    ["with a mark are bad, and only they", `a,b\n1,2\nx${marks.invalid}\ny${marks.tooLong}\n3,4\n`, [
      "{\"a\":\"1\",\"b\":\"2\"}",
      "line 3: the line is not valid UTF-8 <x>",
      "line 4: the line is too long <y>",
      "{\"a\":\"3\",\"b\":\"4\"}"
    ]],
    ["may have characters that are pairs of surrogates", "a\n\u{10000}\n\u{10400}\n", [
      "{\"a\":\"\u{10000}\"}",
      "{\"a\":\"\u{10400}\"}"
    ]],
    ["lose each mark that they have", `a,b\n"x${marks.invalid}\n\u{10000}y\n1",2\n`, [
      "line 2: the line is not valid UTF-8 <\"x\n\u{10000}y\n1\",2>"
    ]],
    ["are all bad under a header with a mark", `a${marks.invalid}\n1\n`, [
      "line 1: the line is not valid UTF-8 <a>",
      "line 2: the header row cannot be read <1>"
    ]],

    ["have 10 characters at most, without the newline", "a\n1234567890\n12345678901\n\"34567\n90\"\n\"34567\n9\"\n", [
      "{\"a\":\"1234567890\"}",
      "line 3: the row is too long, or a double quote is not closed <12345678901>",
      "{\"a\":\"34567\\n90\"}",
      "{\"a\":\"34567\\n9\"}"
    ], { maxLength: 10 }],
    ["that are too long over several lines end with their first line", "a\n\"3\n567890\n12\"\n7\n", [
      "line 2: the row is too long, or a double quote is not closed <\"3>",
      "{\"a\":\"567890\"}",
      "line 4: a double quote is out of place <12\">",
      "{\"a\":\"7\"}"
    ], { maxLength: 10 }],

    ["keep the guard of strings", "a,b\n\"'x\",'y\n", ["{\"a\":\"'x\",\"b\":\"'y\"}"]],
    [
      "lose one guard of quoted strings, if asked",
      "a,\"'b\"\n\"'x\",\"y\"\n\"''x\",'y\n\"\",\"'\"\n\"x'\",\"\"\"'\"\n",
      [
        "{\"a\":\"x\",\"b\":\"y\"}",
        "{\"a\":\"'x\",\"b\":\"'y\"}",
        "{\"a\":\"\",\"b\":\"\"}",
        "{\"a\":\"x'\",\"b\":\"\\\"'\"}"
      ],
      { undoGuard: true }
    ],

    ["that do not decode say where", "a,b\n\"1\n\",2\r\n3,4\n", [
      "line 2, a: is bad <\"1\n\",2\r>",
      "{\"a\":\"3\",\"b\":\"4\"}"
    ], {
      decode: (row) => row["a"] === "1\n" ? Either.left({ path: "a", message: "is bad" }) : Either.right(row)
    }]
  ]

  const complete = cases.map(([title, text, rows, options = {}]) => [title, text, rows, options] as const)

  it.each(complete)("%s", (_, text, rows, options) => {
    assert.deepStrictEqual(parse([text], options), rows)
    assert.deepStrictEqual(parse(linesOf(text), options), rows, "line by line")
    assert.deepStrictEqual(parse(["", ...linesOf(text).flatMap((line) => [line, ""])], options), rows, "and nothing")
  })

  it("come as soon as their last line is there", () => {
    const parser = makeCsvParser(makeDecoder(undefined), { undoGuard: false, maxLength: 20 })
    const rows: Array<RowResult<Row>> = []
    const after = (text: string) => {
      parser.push(text, rows)
      return rows.length
    }
    assert.deepStrictEqual(["a\n", "1\n2\n", "\"3\n", "4\"\n", "\"5\n", "0123456789\n", "012345678\n"].map(after), [
      0,
      2,
      2,
      3,
      3,
      3,
      6
    ])
    assert.deepStrictEqual(outline(rows.slice(2)), [
      "{\"a\":\"3\\n4\"}",
      "line 6: the row is too long, or a double quote is not closed <\"5>",
      "{\"a\":\"0123456789\"}",
      "{\"a\":\"012345678\"}"
    ])
  })

  it("that are bad show their first 64 KiB", () => {
    const [row = ""] = parse([`a,b\n${"x".repeat(65_537)}\n`], { maxLength: 100_000 })
    assert.strictEqual(row, `line 2: expected 2 fields, not 1 <${"x".repeat(65_536)}>`)
  })
})

/** The rows of CSV: fields, line numbers, and what is bad, however the text is split into blocks of whole lines. */
import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { vi } from "vitest"
import { type CsvOptions, makeCsvParser } from "../../src/internal/exports/csv.js"
import { makeLineDecoder, marks } from "../../src/internal/exports/lines.js"
import { type DecodeRow, makeDecoder, type Row, type RowResult } from "../../src/internal/exports/rows.js"
import { readRows } from "../support/rows.js"

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
  for (const block of blocks) readRows(parser, block, rows)
  parser.end()
  readRows(parser, "", rows)
  return outline(rows)
}

const linesOf = (text: string): ReadonlyArray<string> => text.match(/[^\n]*\n/g) ?? []

describe("a row that comes in many blocks", () => {
  /** Parses a row of so many blocks, and counts the characters in which its end is looked for. */
  const searched = (blocks: number) => {
    const indexOf = String.prototype.indexOf
    let count = 0
    const spy = vi.spyOn(String.prototype, "indexOf").mockImplementation(function(this: string, part, from = 0) {
      const found = indexOf.call(this, part, from)
      if (part === "\"") count += (found < 0 ? this.length : found + 1) - from
      return found
    })
    const block = "x \"\"y\"\"\n".repeat(100)
    const rows = parse(["a\n", "\"", ...Array.from({ length: blocks }, () => block), "\"\n"], { maxLength: 10_000_000 })
    spy.mockRestore()
    assert.strictEqual(rows[0]?.length, JSON.stringify({ a: "x \"y\"\n".repeat(100 * blocks) }).length)
    return count / (block.length * blocks)
  }

  it("is searched in proportion to its length", () => {
    for (const blocks of [10, 100, 1000]) assert.isAtMost(searched(blocks), 4)
  })
})

describe("a long field", () => {
  it("has one quote for each two, wherever they are in it", () => {
    for (let before = 16_376; before < 16_392; before++) {
      const value = `${"x".repeat(before)}${"\"".repeat(9)}${"y".repeat(before)}"`
      const rows = parse([`a\n"${value.replaceAll("\"", "\"\"")}"\n`], { maxLength: 100_000 })
      assert.deepStrictEqual(rows, [JSON.stringify({ a: value })])
    }
  })
})

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
    ["keep columns of one title apart by a number", "a,b,a,a\n1,2,3,4\n", [
      "{\"a\":\"1\",\"b\":\"2\",\"a (2)\":\"3\",\"a (3)\":\"4\"}"
    ]],
    ["never number a column with the title of another", "a (2),a,a,a (2)\n1,2,3,4\n", [
      "{\"a (2)\":\"1\",\"a\":\"2\",\"a (3)\":\"3\",\"a (2) (2)\":\"4\"}"
    ]],
    ["keep columns without a title apart", ",,__proto__,__proto__\n1,2,3,4\n", [
      "{\"\":\"1\",\" (2)\":\"2\",\"__proto__\":\"3\",\"__proto__ (2)\":\"4\"}"
    ]],
    ["keep columns apart whose titles are one without the guard", "\"'a\",\"a\"\n1,2\n", [
      "{\"a\":\"1\",\"a (2)\":\"2\"}"
    ], { undoGuard: true }],
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
      "line 4: the row is too long <y>",
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

    [
      "with a mark after a quote end with their last line",
      `a,b\n1,"x\n2,y\nz"${marks.invalid}\n3,"x\n4,y"\r${marks.invalid}\n5,z\n`,
      [
        "line 2: the line is not valid UTF-8 <1,\"x\n2,y\nz\">",
        "line 5: the line is not valid UTF-8 <3,\"x\n4,y\"\r>",
        "{\"a\":\"5\",\"b\":\"z\"}"
      ]
    ],

    ["have 10 bytes at most, without the newline", "a\n1234567890\n12345678901\n\"34567\n90\"\n\"34567\n9\"\n", [
      "{\"a\":\"1234567890\"}",
      "line 3: the row is too long <12345678901>",
      "{\"a\":\"34567\\n90\"}",
      "{\"a\":\"34567\\n9\"}"
    ], { maxLength: 10 }],
    ["have 10 bytes at most, and fewer other characters", "a\n\"ä€\n78\"\n\"ä€\n789\"\n\"\u{10000}€\n9\"\n", [
      "{\"a\":\"ä€\\n78\"}",
      "line 4: the row is too long: it is left out up to line 5 <\"ä€>",
      "line 6: the row is too long: it is left out up to line 7 <\"\u{10000}€>"
    ], { maxLength: 10 }],
    ["that are too long end with their last line", "a\n\"3\n567890\n\"\"\n12\"\n7\n\"3\n\n\n\n\n\n\n\n\n2\"\r\n8\n", [
      "line 2: the row is too long: it is left out up to line 5 <\"3>",
      "{\"a\":\"7\"}",
      "line 7: the row is too long: it is left out up to line 16 <\"3>",
      "{\"a\":\"8\"}"
    ], { maxLength: 10 }],
    ["that are too long may have more fields in quotes", "a,b\n\"3\n567890\n\",\"\"\"\n1,2\n\"\n3,4\n", [
      "line 2: the row is too long: it is left out up to line 6 <\"3>",
      "{\"a\":\"3\",\"b\":\"4\"}"
    ], { maxLength: 10 }],
    ["that are too long end with the line on which a quote is out of place", "a,b\n1,\"3\n4,5\n6,7\n8,\"9\"\n1,2\n", [
      "line 2: the row is too long, or a double quote is not closed: it is left out up to line 5 <1,\"3>",
      "{\"a\":\"1\",\"b\":\"2\"}"
    ], { maxLength: 10 }],
    [
      "with a quote out of place end with their first line, if that comes before they are too long",
      "a,b\n1,\"3\n4,5\n8,\"9\"\n1,2\n",
      [
        "line 2: a double quote is out of place <1,\"3>",
        "{\"a\":\"4\",\"b\":\"5\"}",
        "{\"a\":\"8\",\"b\":\"9\"}",
        "{\"a\":\"1\",\"b\":\"2\"}"
      ],
      { maxLength: 10 }
    ],
    ["that are too long and whose quote is never closed end with the file", "a,b\n1,\"3\n4,5\n6,7\n8,9\n", [
      "line 2: the row is too long, or a double quote is not closed: it is left out up to line 5 <1,\"3>"
    ], { maxLength: 10 }],
    ["are all bad under a header that is too long", "a,\"b\n12345678\"\n1,2\n", [
      "line 1: the row is too long: it is left out up to line 2 <a,\"b>",
      "line 3: the header row cannot be read <1,2>"
    ], { maxLength: 10 }],
    [
      "with a line that is too long end with their last line",
      `a,b\n1,"x${marks.tooLong}\n2,y\nz"\n3,x${marks.tooLong},"\n4,y\nz"\n5,"x"${marks.tooLong},"\n6,y\nz"\n7,"x"\r${marks.tooLong}\n8,"x${marks.tooLong},"\n9,z\n`,
      [
        "line 2: the row is too long: it is left out up to line 4 <1,\"x>",
        "line 5: the row is too long: it is left out up to line 7 <3,x>",
        "line 8: the row is too long: it is left out up to line 10 <5,\"x\">",
        "line 11: the row is too long <7,\"x\"\r>",
        "line 12: the row is too long <8,\"x>",
        "{\"a\":\"9\",\"b\":\"z\"}"
      ]
    ],

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

  it("are all bad under a header of too many columns", () => {
    const rows = (columns: number) => parse([`${",".repeat(columns - 1)}\n1\n`], { maxLength: 20_000 })
    assert.deepStrictEqual(rows(10_000), ["line 2: expected 10000 fields, not 1 <1>"])
    assert.deepStrictEqual(rows(10_001), [
      `line 1: the header row has more than 10,000 columns <${",".repeat(10_000)}>`,
      "line 2: the header row cannot be read <1>"
    ])
  })

  it("come as soon as their last line is there", () => {
    const parser = makeCsvParser(makeDecoder(undefined), { undoGuard: false, maxLength: 20 })
    const rows: Array<RowResult<Row>> = []
    const after = (text: string) => {
      readRows(parser, text, rows)
      return rows.length
    }
    const blocks = ["a\n", "1\n2\n", "\"3\n", "4\"\n", "\"5\n", "0123456789\n", "012345678\n", "9\n", "\"\n6\n"]
    assert.deepStrictEqual(blocks.map(after), [0, 2, 2, 3, 3, 3, 3, 3, 5])
    assert.deepStrictEqual(outline(rows.slice(2)), [
      "{\"a\":\"3\\n4\"}",
      "line 6: the row is too long: it is left out up to line 10 <\"5>",
      "{\"a\":\"6\"}"
    ])
  })

  it("are never made of a field, however long its row and its lines are", () => {
    const long = "x".repeat(2000)
    const fields = [
      "\n2,y\n",
      `${long}\n2,y\n`,
      `\n${long}\n2,y\n`,
      `""\n""2,y\n${long}`,
      `${long}""\n2,y\n""""\n3,z\n`
    ]
    for (const [nth, field] of fields.entries()) {
      for (const row of [`1,"${field}"`, `"${field}",1`, `${long},"${field}"`, `"${long}","${field}"`]) {
        const bytes = new TextEncoder().encode(`a,b\n${row}\n8,9\n`)
        for (const size of [1, 99, 1500, 10_000]) {
          const lines = makeLineDecoder(8)
          const blocks: Array<string> = []
          for (let at = 0; at < bytes.length; at += size) blocks.push(lines.push(bytes.subarray(at, at + size)))
          const [bad = "", ...rest] = parse([...blocks, lines.end()], { maxLength: 8 })
          assert.match(bad, /^line 2: the row is too long/)
          assert.deepStrictEqual(rest, ["{\"a\":\"8\",\"b\":\"9\"}"], `field ${nth} in parts of ${size}`)
        }
      }
    }
  })

  it("that are bad show their first 64 KiB", () => {
    const [row = ""] = parse([`a,b\n${"x".repeat(65_537)}\n`], { maxLength: 100_000 })
    assert.strictEqual(row, `line 2: expected 2 fields, not 1 <${"x".repeat(65_536)}>`)
  })
})

/** Lines of text out of bytes, and the number of rows in them, wherever the parts of the bytes end. */
import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { makeCsvParser } from "../../src/internal/exports/csv.js"
import { makeLineDecoder, makeRowCounter, marks } from "../../src/internal/exports/lines.js"
import { makeNdjsonParser } from "../../src/internal/exports/ndjson.js"
import { makeDecoder, type Row, type RowResult } from "../../src/internal/exports/rows.js"
import { readRows } from "../support/rows.js"

const mark = "\uFEFF"

const { invalid, tooLong } = marks

/** Bytes of texts, and of single bytes. */
const bytesOf = (...parts: ReadonlyArray<string | number>): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part) : Buffer.of(part))))

const partsOf = (bytes: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) => bytes.subarray(nth * size, (nth + 1) * size))

/** The lines of bytes that come in these parts. */
const decode = (parts: ReadonlyArray<Uint8Array>, maxBytes: number): string => {
  const lines = makeLineDecoder(maxBytes)
  return parts.map(lines.push).join("") + lines.end()
}

/** The lines of bytes, decoded one by one. */
const reference = (bytes: Uint8Array, maxBytes: number): string => {
  const lines = Buffer.from(bytes).toString("latin1").split("\n").map((line) => Buffer.from(line, "latin1"))
  if (lines.at(-1)?.length === 0) lines.pop()
  return lines.map((line) => {
    if (line.length > maxBytes) return `${line.toString("utf8", 0, 1024)}${tooLong}\n`
    const text = line.toString("utf8")
    return `${text}${Buffer.from(text).equals(line) ? "" : invalid}\n`
  }).join("")
}

describe("lines of bytes", () => {
  const cases: ReadonlyArray<readonly [title: string, bytes: Uint8Array, lines: string, maxBytes?: number]> = [
    ["are none without a byte", bytesOf(), ""],
    ["are whole", bytesOf("a\nbc\n"), "a\nbc\n"],
    ["have a newline, also the last one", bytesOf("a\nbc"), "a\nbc\n"],
    ["may be empty", bytesOf("\n\na\n\n"), "\n\na\n\n"],
    ["may have characters of many bytes", bytesOf("é\n€\u{1F600}\né"), "é\n€\u{1F600}\né\n"],
    ["lose a mark of their order at the start", bytesOf(`${mark}a\nb\n`), "a\nb\n"],
    ["lose one mark only", bytesOf(`${mark}${mark}a\n`), `${mark}a\n`],
    ["keep a mark at the start of another line", bytesOf(`a\n${mark}b\n${mark}`), `a\n${mark}b\n${mark}\n`],
    ["keep a mark after an empty line", bytesOf(`\n${mark}b\n`), `\n${mark}b\n`],
    ["keep a mark at the end of the first line", bytesOf(`a${mark}\nb\n`), `a${mark}\nb\n`],
    ["lose a mark that is all there is", bytesOf(mark), "\n"],
    ["that are invalid say so", bytesOf("a\n", 0xff, "b\nc\n", 0xc3), `a\n\uFFFDb${invalid}\nc\n\uFFFD${invalid}\n`],
    ["that are invalid keep a mark", bytesOf("a\n", mark, 0xff, "\n"), `a\n${mark}\uFFFD${invalid}\n`],
    ["that are invalid may hold the text of a replacement", bytesOf("\uFFFD\n"), "\uFFFD\n"],
    ["that are as long as allowed are whole", bytesOf("1234\n123\n1234"), "1234\n123\n1234\n", 4],
    ["that are longer say so", bytesOf("1\n12345\n2\n"), `1\n12345${tooLong}\n2\n`, 4],
    ["that are longer say so, the first one", bytesOf("12345\n2\n"), `12345${tooLong}\n2\n`, 4],
    ["that are longer say so, one after the other", bytesOf("12345\n67890\n"), `12345${tooLong}\n67890${tooLong}\n`, 4],
    ["that are longer say so, the last one without a newline", bytesOf("1\n12345"), `1\n12345${tooLong}\n`, 4]
  ]

  const complete = cases.map(([title, bytes, lines, maxBytes = 100]) => [title, bytes, lines, maxBytes] as const)

  it.each(complete)("%s", (_, bytes, lines, maxBytes) => {
    for (let size = 1; size <= Math.max(1, bytes.length); size++) {
      assert.strictEqual(decode(partsOf(bytes, size), maxBytes), lines, `in parts of ${size}`)
      const withEmptyParts = partsOf(bytes, size).flatMap((part) => [new Uint8Array(), part])
      assert.strictEqual(decode(withEmptyParts, maxBytes), lines, `in parts of ${size} and of 0`)
    }
  })

  it("that are much too long show their beginning once, whatever follows", () => {
    const long = "x".repeat(100)
    for (const size of [1, 3, 5, 6, 7, 50, 100, 101, 300]) {
      const [first = "", second = "", ...rest] = decode(partsOf(bytesOf(`${long}\n${long}\nab\n${mark}`), size), 5)
        .split("\n")
      for (const line of [first, second]) assert.match(line, /^x{6,100}\uD801$/, `in parts of ${size}`)
      assert.deepStrictEqual(rest, ["ab", mark, ""], `in parts of ${size}`)
    }
  })

  it("that are too long show 1024 bytes at most, and a mark that is not the first", () => {
    const long = bytesOf(`a\n${mark}${"x".repeat(2000)}\nb\n`)
    const lines = `a\n${mark}${"x".repeat(1021)}${tooLong}\nb\n`
    assert.strictEqual(decode([long], 1500), lines)
    assert.strictEqual(decode(partsOf(long, 1), 1500), lines)
  })

  it("that are too long have a quote after their mark if the rest has an odd number of them", () => {
    const long = "x".repeat(1024)
    const rests: ReadonlyArray<readonly [rest: string, end: string]> = [
      ["x", ""],
      ["\"", ",\""],
      ["x\"\"", ""],
      ["\"x\"x\"x", ",\""]
    ]
    for (const [rest, end] of rests) {
      for (const size of [1, 2, 1023, 1024, 1025, 1026, 9999]) {
        const lines = decode(partsOf(bytesOf(`"\n${long}${rest}\n${long}${rest}`), size), 1024)
        const line = `${long}${tooLong}${end}\n`
        assert.strictEqual(lines, `"\n${line}${line}`, `${rest} in parts of ${size}`)
      }
    }
  })

  it("are those of a simple decoder, for parts of any size", () => {
    const bytes = Buffer.concat(Array.from({ length: 60 }, (_, nth) =>
      bytesOf(
        "€".repeat(nth * 7 % 11),
        "x".repeat(nth * 13 % 37),
        nth % 9 === 4 ? 0xff : "",
        nth % 5 === 2 ? `${mark}\r\n` : "\n"
      )))
    const lines = reference(bytes, 45)
    assert.isAbove(lines.split(tooLong).length, 2)
    assert.isAbove(lines.split(invalid).length, 2)
    // What is shown of a line that is too long depends on the parts.
    const comparable = (text: string) => text.replace(/[^\n]*\uD801/g, tooLong)
    for (let size = 1; size <= 120; size++) {
      assert.strictEqual(comparable(decode(partsOf(bytes, size), 45)), comparable(lines), `in parts of ${size}`)
    }
    assert.strictEqual(decode([bytes], 45), lines)
  })

  it("are right though the memory of a part is used again", () => {
    const { end, push } = makeLineDecoder(100)
    const part = bytesOf("ab")
    const lines = [push(part)]
    part.set(bytesOf("cd"))
    lines.push(push(part))
    part.fill(0x78)
    assert.strictEqual(lines.join("") + end(), "abcd\n")
  })

  it("come with the part in which they end", () => {
    const { end, push } = makeLineDecoder(100)
    assert.deepStrictEqual(["a", "b\nc", "\n\nd", "e"].map((part) => push(bytesOf(part))), ["", "ab\n", "c\n\n", ""])
    assert.strictEqual(end(), "de\n")
  })
})

describe("the number of rows", () => {
  const numbers: ReadonlyArray<readonly [format: "json" | "csv", text: string, count: number]> = [
    ["json", "", 0],
    ["json", "\n", 0],
    ["json", "\n\r\n{}", 1],
    ["json", "{\"a\":1}", 1],
    ["json", "{\"a\":1}\n", 1],
    ["json", "{\"a\":1}\r\n\r\n", 1],
    ["json", "{\"a\":1}\n\n\r\n{\"b\":2}\n\n", 2],
    ["json", "{\"a\":\"\\\"\"}\n{\"b\":1}\n{\"c\":1}\n", 3],
    ["csv", "", 0],
    ["csv", "\n", 0],
    ["csv", "a,b\n", 0],
    ["csv", "a,b", 0],
    ["csv", "a,b\r\n1,2\r\n\r\n", 1],
    ["csv", "a,b\n1,2\n3,4", 2],
    ["csv", "a,b\n1,\"2\n\n\"\n3,\"\"\"4\"\n", 2],
    ["csv", "\na\nx\n", 1],
    ["csv", "\n\r\na,b\n1,2\n", 1],
    ["csv", "a\n\nx\n\r\n", 3],
    ["csv", "a\n\"x,y\"\n\n", 2],
    ["csv", "\"a,b\"\n\n", 1],
    ["csv", "a\nx,y\n\n", 2]
  ]

  it.each(numbers)("of %s is right: %j", (format, text, count) => {
    const bytes = bytesOf(text)
    for (let size = 1; size <= Math.max(1, bytes.length); size++) {
      const counter = makeRowCounter(format)
      for (const part of partsOf(bytes, size)) counter.add(part)
      assert.strictEqual(counter.count(), count, `in parts of ${size}`)
    }
    const parser = format === "csv"
      ? makeCsvParser(makeDecoder(undefined), { undoGuard: false, maxLength: 100 })
      : makeNdjsonParser(makeDecoder(undefined))
    const rows: Array<RowResult<Row>> = []
    parser.end()
    readRows(parser, decode([bytes], 100), rows)
    assert.strictEqual(rows.length, count, "and that of the parser")
  })

  it("so far includes a row that has no newline yet", () => {
    const { add, count } = makeRowCounter("csv")
    const counts = ["a,b", "\n", "1", ",2\n", "\r\n", "3"].map((part) => {
      add(bytesOf(part))
      return count()
    })
    assert.deepStrictEqual(counts, [0, 0, 1, 1, 1, 2])
  })
})

describe("lines of NDJSON", () => {
  it("that do not decode show what was received, with white space after the object", () => {
    const parser = makeNdjsonParser<Row>(() => Either.left({ path: "a", message: "is bad" }))
    const rows: Array<RowResult<Row>> = []
    readRows(parser, "{\"a\":1} \r\n\n", rows)
    readRows(parser, "{\"a\":2}\n", rows)
    assert.deepStrictEqual(
      rows.map(Either.match({
        onLeft: ({ line, message, path, raw }) => [line, message, path, Redacted.value(raw)],
        onRight: () => []
      })),
      [[1, "line 1, a: is bad", "a", "{\"a\":1} \r"], [3, "line 3, a: is bad", "a", "{\"a\":2}"]]
    )
  })
})

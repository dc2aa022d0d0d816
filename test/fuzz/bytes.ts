/** Generates bytes that servers and clients should never send: noise, and damaged JSON. */
import { FastCheck } from "effect"
import { gzipSync } from "node:zlib"

const utf8 = (text: string): Buffer => Buffer.from(text, "utf8")

/** Arbitrary bytes. */
const noise: FastCheck.Arbitrary<Uint8Array> = FastCheck.oneof(
  { weight: 8, arbitrary: FastCheck.uint8Array({ maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: FastCheck.tuple(FastCheck.uint8Array({ minLength: 1, maxLength: 8 }), FastCheck.nat(2000)).map(
      ([bytes, times]) => Buffer.concat(Array.from({ length: times }, () => bytes))
    )
  }
)

const deep = 100_000

/** JSON, or almost JSON, that parsers and code that walks their values may fail on. */
const monsters: ReadonlyArray<string> = [
  "[".repeat(deep),
  "[".repeat(deep) + "]".repeat(deep),
  "{\"a\":".repeat(deep),
  "{\"versions\":".repeat(deep / 10) + "1" + "}".repeat(deep / 10),
  `{"total":1,"per_page":1,"versions":[{"action":${"[".repeat(deep)}${"]".repeat(deep)}}]}`,
  `{"id":"a","type":"b","status":"c","connection":${"{\"c\":".repeat(deep / 10)}null${"}".repeat(deep / 10)}}`,
  `{"message":${"[".repeat(deep)}${"]".repeat(deep)},"error":{},"errorCode":[[]]}`,
  `{"error":"a","description":${"[".repeat(deep)}${"]".repeat(deep)}}`,
  `{"access_token":${"[".repeat(deep)}${"]".repeat(deep)}}`,
  `{"total":${"9".repeat(deep)},"per_page":-0,"versions":[]}`,
  "{\"total\":1e400,\"per_page\":-1e400,\"page\":5e-324,\"versions\":[{\"number\":1e999}]}",
  `{"access_token":"a","expires_in":${"9".repeat(400)}}`,
  "{\"access_token\":\"a\",\"expires_in\":\"1e400\"}",
  "{\"access_token\":\"a\\u0000b\",\"expires_in\":-1}",
  `{"access_token":"e30.${Buffer.from("{\"iat\":1e308,\"exp\":-1e308}").toString("base64url")}.x"}`,
  `{"access_token":"e30.${Buffer.from("{\"iat\":\" \",\"exp\":\"Infinity\"}").toString("base64url")}.x"}`,
  `{"access_token":"${"e".repeat(deep)}"}`,
  "{\"__proto__\":{\"statusCode\":1,\"message\":\"a\"},\"constructor\":{\"prototype\":{}},\"toString\":1,\"hasOwnProperty\":0}",
  "{\"total\":1,\"per_page\":1,\"versions\":[{\"__proto__\":null,\"constructor\":null,\"id\":null}],\"__proto__\":[]}",
  "{\"id\":\"a\",\"id\":null,\"id\":1,\"type\":\"b\",\"type\":\"c\",\"status\":\"d\"}",
  "{\"message\":\"\\ud800\",\"errorCode\":\"\\udc00\\ud800\",\"error\":\"\\uD83D\"}",
  `{"message":"${"ey".repeat(30_000)}"}`,
  `{"message":"Insufficient scope, expected any of: ${"read:users ".repeat(2000)}"}`,
  `{${Array.from({ length: 5000 }, (_, nth) => `"m${nth}":${nth}`).join(",")}}`,
  `<!doctype html>${"<title".repeat(5000)}`,
  `<html><title>${"\uD83D\uDE42".repeat(2000)}`,
  `${" ".repeat(deep)}{}`,
  "null\0",
  "\0",
  "NaN",
  "-",
  "\"",
  "\"\\",
  "\"\\u",
  "01",
  "1e",
  "undefined",
  "{}{}",
  "[,]",
  "{\"a\"}"
]

/** The same characters in another encoding. */
const recoded = (text: string): ReadonlyArray<Uint8Array> => [
  Buffer.from(`\uFEFF${text}`, "utf8"),
  Buffer.from(`\uFEFF\uFEFF${text}`, "utf8"),
  Buffer.from(`\uFEFF${text}`, "utf16le"),
  Buffer.from(text, "utf16le"),
  Buffer.from(text, "utf16le").swap16(),
  Buffer.from(`${text}\u00E9`, "latin1"),
  Buffer.concat([utf8(text), Buffer.from([0xed, 0xa0, 0x80])]),
  Buffer.concat([utf8(text).subarray(0, -1), Buffer.from([0xf0, 0x9f])])
]

/** Gzip that is complete, compressed twice, truncated, damaged, or only its first two bytes. */
const zipped = (text: string): ReadonlyArray<Uint8Array> => {
  const whole = gzipSync(text)
  const damaged = Buffer.from(whole)
  damaged.fill(0xff, 10, Math.max(10, whole.length - 4))
  return [
    whole,
    gzipSync(whole),
    whole.subarray(0, -5),
    whole.subarray(0, 12),
    damaged,
    Buffer.concat([whole, utf8("junk")]),
    Buffer.concat([whole, whole]),
    Buffer.concat([Buffer.from([0x1f, 0x8b]), utf8(text)]),
    Buffer.from([0x1f, 0x8b])
  ]
}

/** Texts that may replace any value, or be inserted anywhere. */
const splinters = [
  "null",
  "true",
  "-0",
  "1e400",
  "-1.5",
  "9007199254740993",
  "\"\"",
  "\"\\ud800\"",
  "\"__proto__\"",
  "[]",
  "[{}]",
  "[null]",
  "{}",
  "{\"__proto__\":null}",
  "[[[[]]]]",
  "\"<script>\"",
  "\\u0000",
  ",",
  "}",
  "]",
  "\"",
  "\0",
  "\uFEFF",
  "\uD83D\uDE42",
  "\r\n"
].map(utf8)

/** One kind of damage to a text. `at` and `length` are shares of its length. */
interface Accident {
  readonly kind: "flip" | "cut" | "repeat" | "splice" | "insert" | "end" | "value" | "name"
  readonly at: number
  readonly length: number
  readonly bytes: Uint8Array
}

const share = FastCheck.nat(999).map((nth) => nth / 1000)

const accident: FastCheck.Arbitrary<Accident> = FastCheck.record({
  kind: FastCheck.constantFrom<Accident["kind"]>("flip", "cut", "repeat", "splice", "insert", "end", "value", "name"),
  at: share,
  length: share,
  bytes: FastCheck.oneof(FastCheck.constantFrom(...splinters), FastCheck.uint8Array({ minLength: 1, maxLength: 4 }))
})

/** Scalar values, and names of fields, in the text of JSON. */
const scalar = /(?<=[:[,])\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)/g
const name = /"(?:[^"\\]|\\.)*"(?=\s*:)/g

const replaceOne = (bytes: Buffer, pattern: RegExp, at: number, by: Uint8Array): Buffer => {
  const text = bytes.toString("latin1")
  const found = [...text.matchAll(pattern)]
  const one = found[Math.floor(at * found.length)]
  return one === undefined ? bytes : Buffer.concat([
    bytes.subarray(0, one.index),
    by,
    bytes.subarray(one.index + one[0].length)
  ])
}

const suffer = (bytes: Buffer, { at, bytes: other, kind, length }: Accident): Buffer => {
  const from = Math.floor(at * (bytes.length + 1))
  const to = Math.min(bytes.length, from + Math.ceil(length * 20))
  const [before, inner, after] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)]
  switch (kind) {
    case "flip": {
      const flipped = Buffer.from(bytes)
      if (from < flipped.length) flipped[from]! ^= 1 << Math.floor(length * 8)
      return flipped
    }
    case "cut":
      return Buffer.concat([before, after])
    case "repeat":
      return Buffer.concat([before, inner, inner, after])
    case "splice":
      return Buffer.concat([before, other, after])
    case "insert":
      return Buffer.concat([before, other, bytes.subarray(from)])
    case "end":
      return before
    case "value":
      return replaceOne(bytes, scalar, at, other)
    case "name":
      return replaceOne(bytes, name, at, length < 0.5 ? utf8("\"__proto__\"") : other)
  }
}

/** A text with up to four kinds of damage. */
const damaged = (texts: ReadonlyArray<string>): FastCheck.Arbitrary<Uint8Array> =>
  FastCheck.tuple(FastCheck.constantFrom(...texts), FastCheck.array(accident, { maxLength: 4 })).map(
    ([text, accidents]) => accidents.reduce(suffer, utf8(text))
  )

/** Bodies similar to these texts, and others. */
export const bodies = (texts: ReadonlyArray<string>): FastCheck.Arbitrary<Uint8Array> =>
  FastCheck.oneof(
    { weight: 20, arbitrary: damaged(texts) },
    { weight: 6, arbitrary: noise },
    { weight: 2, arbitrary: FastCheck.constantFrom(...monsters).map(utf8) },
    {
      weight: 2,
      arbitrary: FastCheck.constantFrom(...texts).chain((text) => FastCheck.constantFrom(...recoded(text)))
    },
    { weight: 1, arbitrary: FastCheck.constantFrom(...texts).chain((text) => FastCheck.constantFrom(...zipped(text))) },
    { weight: 1, arbitrary: FastCheck.constant(new Uint8Array()) }
  )

/** Names of headers with a meaning, and of properties that every object has. */
const oddNames = ["__proto__", "constructor", "hasownproperty", "x", "set-cookie", "vary", "trailer", "x-\u00E9"]

/** Header values: any characters of Latin-1 except line ends. */
const anyValue = FastCheck.oneof(
  FastCheck.array(FastCheck.integer({ min: 0x20, max: 0xff }), { maxLength: 12 }).map((codes) =>
    String.fromCharCode(...codes)
  ),
  FastCheck.constantFrom("", " ", "\t", "0", "-1", "1.5", "x".repeat(5000), "NaN", "null", "\"", "a, b", "\u00FF")
)

/** A header that is never read, or with the name of an object's property. */
export const anyHeader = FastCheck.tuple(
  FastCheck.oneof(FastCheck.constantFrom(...oddNames), FastCheck.stringMatching(/^[a-z!#$%&'*+.^_`|~0-9-]{1,12}$/)),
  anyValue
)

/** A header that is read, with sensible, strange or arbitrary values. */
export const header = (
  name: string,
  ...values: ReadonlyArray<string>
): FastCheck.Arbitrary<readonly [string, string]> =>
  FastCheck.tuple(
    FastCheck.constant(name),
    FastCheck.oneof({ weight: 4, arbitrary: FastCheck.constantFrom(...values) }, { weight: 1, arbitrary: anyValue })
  )

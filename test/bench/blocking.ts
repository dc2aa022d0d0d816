/**
 * `npm run bench:blocking`: measures work during which the event loop does nothing else, at inputs of 1, 10 and 100 times a size. The last is
 * the bound, if the work has one. Each number is the median of the rounds. `--quick` runs fewer, `--save` keeps the table.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { parseArgs } from "node:util"
import { listActionVersions } from "../../src/index.js"
import { makeCsvParser } from "../../src/internal/exports/csv.js"
import { makeLineDecoder } from "../../src/internal/exports/lines.js"
import { makeNdjsonParser } from "../../src/internal/exports/ndjson.js"
import { makeDecoder, type Row, type RowParser } from "../../src/internal/exports/rows.js"
import { redact } from "../../src/internal/http/redact.js"
import { parseJson } from "../../src/internal/runtime/parseJson.js"
import * as Decode from "../../src/internal/schema/decode.js"
import { startMillis } from "./blocking/tenants.js"
import { version } from "./calls/payloads.js"
import { save } from "./results.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})

const rounds = quick ? 3 : 9

/** The milliseconds of all pieces of some work, and of the longest. */
interface Times {
  readonly total: number
  readonly longest: number
}

const timed = (pieces: Iterable<() => void>): Times => {
  let [total, longest] = [0, 0]
  for (const piece of pieces) {
    const begin = performance.now()
    piece()
    const time = performance.now() - begin
    total += time
    longest = Math.max(longest, time)
  }
  return { total, longest }
}

/** The default of `maxRowSize`. */
const maxRowSize = 512 * 1024
/** The size of the chunks in which Node decompresses. */
const blockSize = 16 * 1024

/** The pieces in which a file is read: at most `maxRowsAtOnce` rows of a block. */
function* reading(text: string, parser: RowParser<Row>): Iterable<() => void> {
  const bytes = new TextEncoder().encode(text)
  const lines = makeLineDecoder(maxRowSize)
  let [at, isBehind] = [0, false]
  const piece = (): void => {
    if (!isBehind) {
      if (at >= bytes.length) parser.end()
      parser.push(at < bytes.length ? lines.push(bytes.subarray(at, at + blockSize)) : lines.end())
      at += blockSize
    }
    isBehind = parser.read([])
  }
  for (;;) {
    yield piece
    if (at >= bytes.length + blockSize && !isBehind) return
  }
}

const anyRow = makeDecoder<Row, unknown>(undefined)
const csv = (text: string) => reading(text, makeCsvParser(anyRow, { undoGuard: false, maxLength: maxRowSize }))
const ndjson = (text: string) => reading(text, makeNdjsonParser(anyRow))

/** Text with quotes and newlines of this many characters. */
const words = (length: number) => "some \"\"words\"\"\n".repeat(length / 15)

const { success = Schema.Unknown } = listActionVersions.endpoint
const decodePage = Decode.make(success)

interface Work {
  readonly name: string
  readonly unit: string
  readonly sizes: readonly [number, number, number]
  /** Makes the input, which is not measured, and gives the pieces. */
  readonly prepare: (size: number) => Iterable<() => void>
}

const times = (count: number, make: (nth: number) => string): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, nth) => make(nth))

/** Redaction of a text of 2,000 characters, with secrets of up to the bound. */
const redaction = (
  of: string,
  make: (size: number) => readonly [text: string, secrets: ReadonlyArray<string>]
): Work => ({
  name: `redaction, ${of}`,
  unit: "characters",
  sizes: [328, 3277, 32_768],
  prepare: (size) => {
    const [text, secrets] = make(size)
    return [() => void redact(text, secrets)]
  }
})

const works: ReadonlyArray<Work> = [
  redaction("secrets", (size) => {
    const secrets = times(size / 64, (nth) => createHash("sha256").update(String(nth)).digest("hex"))
    return [secrets.join(" ").slice(0, 2000).padEnd(2000, "text "), secrets]
  }),
  redaction("one prefix", (size) => ["a".repeat(2000), times(size / 12, (nth) => `aaaaaaaa${1000 + nth}`)]),
  redaction("one part", (size) => ["1P1P1P1P".repeat(250), ["21".repeat(size / 2)]]),
  redaction("nested", (size) => ["a".repeat(2000), times(Math.sqrt(2 * size), (nth) => "a".repeat(nth))]),
  redaction("unfolding", (size) => ["\ufdfa".repeat(2000), ["\ufdfa".repeat(size / 18)]]),
  {
    name: "CSV, rows of 100 bytes",
    unit: "rows",
    sizes: [1000, 10_000, 100_000],
    prepare: (size) => csv(`a,b,c\n${`"${"x".repeat(60)}",${"y".repeat(20)},${"z".repeat(14)}\n`.repeat(size)}`)
  },
  {
    name: "CSV, one row",
    unit: "KiB",
    sizes: [5, 50, 500],
    prepare: (size) => csv(`a\n"${words(size * 1024)}"\n`)
  },
  {
    name: "CSV, stray quotes",
    unit: "lines",
    sizes: [2000, 20_000, 200_000],
    prepare: (size) => csv(`a,b\n${"x,\"y\n".repeat(size)}`)
  },
  {
    name: "CSV, a quote never closed",
    unit: "KiB",
    sizes: [5, 50, 500],
    prepare: (size) => csv(`a,b\n"${"x,y\n".repeat(size * 256)}`)
  },
  {
    name: "NDJSON, lines of 100 bytes",
    unit: "lines",
    sizes: [1000, 10_000, 100_000],
    prepare: (size) => ndjson(`{"user_id":"auth0|${"x".repeat(40)}","email":"${"y".repeat(26)}"}\n`.repeat(size))
  },
  {
    name: "NDJSON, bad lines",
    unit: "lines",
    sizes: [2000, 20_000, 200_000],
    prepare: (size) => ndjson("{x\n".repeat(size))
  },
  {
    name: "NDJSON, one line",
    unit: "KiB",
    sizes: [5, 50, 500],
    prepare: (size) => ndjson(`{"a":"${"some words \\n".repeat(size * 1024 / 13)}"}\n`)
  },
  {
    name: "decoding a page",
    unit: "versions",
    sizes: [1, 10, 100],
    prepare: (size) => {
      const versions = Array.from({ length: size }, (_, nth) => version(nth, 5000))
      const text = JSON.stringify({ versions, total: size, page: 0, per_page: size })
      return [() => void Either.flatMap(parseJson(text), decodePage)]
    }
  }
]

const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN

const spread = (values: ReadonlyArray<number>): string =>
  `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`

const row = (name: string, size: string, all: ReadonlyArray<Times>): string => {
  const [total, longest] = [all.map((times) => times.total), all.map((times) => times.longest)]
  return `${name.padEnd(27)}${size.padStart(18)}${median(total).toFixed(2).padStart(10)}${spread(total).padStart(17)}${
    median(longest).toFixed(2).padStart(15)
  }${median(longest) > 10 ? "  over 10 ms" : ""}`
}

const program = Effect.gen(function*() {
  const lines = ["work                                     input  total ms           spread  longest piece"]
  for (const { name, prepare, sizes, unit } of works) {
    for (let nth = 0; nth < 5; nth++) timed(prepare(sizes[1])) // until it is compiled
    for (const size of sizes) {
      lines.push(row(name, `${size} ${unit}`, Array.from({ length: rounds }, () => timed(prepare(size)))))
    }
  }
  for (const tenants of [5, 50, 500]) {
    const times = (yield* startMillis(tenants, rounds + 1)).slice(1)
    lines.push(row("a start in the queue", `${tenants} tenants`, times.map((time) => ({ total: time, longest: time }))))
  }
  console.log(lines.join("\n"))
  save("blocking.txt", lines.join("\n"))
})

NodeRuntime.runMain(program)

/** Tests that the chart and the numbers in the pages are those of the kept results, of the tests, and of the suites. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { type Row, titles } from "../bench/calls/result.js"
import { result } from "../bench/results.js"
import { matrixOf } from "../runtimes/stage.js"
import { suite } from "../runtimes/suite.js"
import { guide, page } from "../support/documentation.js"
import { rows as faults } from "../support/faultRows.js"
import { contractOperations } from "../support/operations.js"
import { chart, figures } from "../support/quotedCode.js"

const found = <A>(value: A | undefined, what: string): A => {
  if (value === undefined) throw new Error(`the results have no ${what}`)
  return value
}

/** A client's figures in a scenario of `npm run bench`. */
const call = (payload: keyof typeof titles, concurrency: number, client: string): Row =>
  found(
    figures.rows.find((row) => row.payload === payload && row.concurrency === concurrency && row.client === client),
    `${payload} ${concurrency} ${client}`
  )

const micros = (payload: keyof typeof titles, concurrency: number, client: string): number =>
  call(payload, concurrency, client).cpuUs.median

const overUndici = (row: Row): number => found(row.ratioUndici, "undici")
const overSdk = (row: Row): number => found(row.ratioSdk, "auth0")

/** The version of Node with which the figures were made. */
const nodeOf = `Node ${figures.node?.split(".")[0] ?? "20"}`

/** The least and the most of a client's cost as a share of the SDK's: by rounds, or by the extremes of both. */
const extremes = (payload: keyof typeof titles, concurrency: number, client: string): string => {
  const [row, sdk] = [call(payload, concurrency, client), call(payload, concurrency, "auth0")]
  const { least, most } = row.roundsSdk ??
    { least: row.cpuUs.least / sdk.cpuUs.most, most: row.cpuUs.most / sdk.cpuUs.least }
  return `${least.toFixed(2)} to ${most.toFixed(2)}`
}

const share = (concurrency: number, client: string): string =>
  client === "auth0"
    ? "1"
    : `${overSdk(call("small", concurrency, client)).toFixed(2)} (${extremes("small", concurrency, client)})`

/** The cells of the line of a result that begins with these. */
const cells = (name: string, ...first: ReadonlyArray<string>): ReadonlyArray<string> =>
  found(
    result(`${name}.txt`).split("\n").map((line) => line.trim().split(/ {2,}/))
      .find((cells) => first.every((cell, index) => cells[index] === cell)),
    `${name}: ${first.join()}`
  )

const cell = (name: string, nth: number, ...first: ReadonlyArray<string>): string =>
  found(cells(name, ...first)[nth], `${name}: ${first.join()}, ${nth}`)

/** The numbers in a line of a result. */
const numbers = (name: string, line: RegExp): ReadonlyArray<string> =>
  found(result(`${name}.txt`).split("\n").find((text) => line.test(text)), `${name}: ${line}`).match(/[\d.]+/g) ?? []

const range = (values: ReadonlyArray<number>, show: (value: number) => string | number): string =>
  `${show(Math.min(...values))} to ${show(Math.max(...values))}`

const decoding = (name: string) => cell("decode", 2, name)

const [platformMs = ""] = numbers("start", /platform's modules  .* ms/)
const [libraryMs = "", , overPlatform = ""] = numbers("start", /with the library/)
const [sdkImportMs = "", , importOverSdk = ""] = numbers("start", /the vendor's SDK  .* MB/)
const [ourMs = ""] = numbers("start", /a script of one call  .* ms/)
const [sdkMs = ""] = numbers("start", /the vendor's SDK  .* ms: .* SDK's/)
const [fetchMs = ""] = numbers("start", /bare fetch  .* ms/)
const [ourKb = ""] = numbers("start", /the script of one call  .* kB/)
const [sdkKb = ""] = numbers("start", /the vendor's SDK  .* kB/)
const [fetchKb = ""] = numbers("start", /bare fetch  .* kB/)
const [oneKb = ""] = numbers("start", /one operation/)
const [allKb = ""] = numbers("start", /the whole library/)
const round = (text: string) => Number(text).toFixed(0)

/** The clients of the benchmark by the names that the pages give them. */
const clients = {
  "`undici.request` and `JSON.parse`": "undici",
  "`Node.layerConfig`": "ours-lean",
  "`Node.layerConfig` with a tracer": "ours-lean-traced",
  "`fetch` and `response.json()`": "fetch",
  "over `NodeHttpClient.layerUndici`": "ours-stock",
  "the vendor's SDK": "auth0"
}

const stock = (payload: keyof typeof titles, concurrency: number) => call(payload, concurrency, "ours-stock")

/** The lines of `npm run bench:goodput`. */
const goodputs = result("goodput.txt").split("\n").slice(1).map((line) => {
  const [, scenario = "", client = "", ...rest] = /^(.{21})(\S+)\s+(.*)$/.exec(line) ?? []
  const [calls = "", failed = "", , refused = "", share = "", , goodput = ""] = rest.join().split(/ +(?!%)/)
  return { scenario: scenario.trim(), client, calls, failed, refused, share, goodput }
})

const goodput = (scenario: string, client: string) =>
  found(goodputs.find((row) => row.scenario === scenario && row.client === client), `goodput: ${scenario} ${client}`)

const ours = goodputs.filter(({ client }) => client === "ours")

/** The lines of `npm run bench:fleet`. */
const fleet = (scenario: string, shared: string) => {
  const [, , calls = "", failed = "", , refused = "", share = "", , goodput = "", tokens = ""] = found(
    result("fleet.txt").split("\n").map((line) => line.trim().split(/ {2,}/)).map((cells) =>
      // A long name leaves one space before the next cell.
      cells.flatMap((cell, index) => index === 0 ? cell.split(/ (?=(?:yes|no)$)/) : [cell])
    ).find((cells) => cells[0] === scenario && cells[1] === shared),
    `fleet: ${scenario} ${shared}`
  )
  return { calls, failed, refused, share, goodput, tokens }
}

const grouped = (number: number | string) => Number(number).toLocaleString("en")

/** The lines of `npm run bench:outage`. */
const outages = result("outage.txt").split("\n").slice(1).map((line) => {
  const [failing = "", client = "", requests = "", retries = "", failed = "", onlyHere = ""] = line.split(/ {2,}/)
  return [failing, client, requests, retries, failed, onlyHere] as const
})

const telemetry = ["no network", "150 bytes, 1 at a time", "150 bytes, 50 at a time", "a job by POST, 50 at a time"]
  .map(
    (title) => {
      const [, removed, included, , , traced] = cells("telemetry", title).map(Number)
      return { removed: removed ?? NaN, included: included ?? NaN, traced: traced ?? NaN }
    }
  )
const [alone, ...overLoopback] = telemetry
const added = found(alone, "telemetry").included - found(alone, "telemetry").removed
const spans = found(alone, "telemetry").traced - found(alone, "telemetry").included

const interrupted = { p50: Number(cell("stampede", 2, "all")), max: Number(cell("stampede", 5, "all")) }
const [callers = "", tokenRequests = "", failedCalls = ""] = numbers("stampede", /first calls/)

const streamed = { often: cell("memory", 5, "stream"), peak: cell("memory", 6, "stream") }

const journal = (concurrency: string) => cell("journal", 1, concurrency)

/** How many events a run sends at the same time by default. */
const [, inFlight = ""] = /concurrency = (\d+), dryRun/.exec(readFileSync("src/Redelivery.ts", "utf8")) ?? []

const crash = /: crash\((\d+), (\d+)\)/.exec(readFileSync("test/support/crash.ts", "utf8")) ?? []

/** The texts of the pages that have numbers of results. A text may be broken into lines, and cells may be wider. */
const quotes: Readonly<Record<string, ReadonlyArray<string>>> = {
  "README.md": [
    `cost ${overSdk(call("small", 1, "ours-lean")).toFixed(2)} of the SDK's processor time, ${
      extremes("small", 1, "ours-lean")
    } between extreme rounds, on ${nodeOf} (\`npm run bench\`)`,
    `fifty callers' ${goodput("2/s", "ours").calls} calls against a limit of 2/s got no 429 and none failed; ` +
    `${goodput("2/s", "auth0").failed} of the SDK's failed (\`npm run bench:goodput\`)`,
    `${grouped(crash[1] ?? "")} redeliveries with a journal, killed ${
      crash[2]
    } times: no event was sent twice; up to ${inFlight} at ` +
    `each kill stay \`unknown\` (\`npm run test:crash\`)`,
    `${faults.length} network faults × ${contractOperations.length} operations × 3 HTTP clients`,
    `${grouped(callers)} first calls at once make one token request (\`npm run bench:stampede\`)`,
    `${grouped(fleet("8 processes", "yes").calls)} calls got no 429 (\`npm run bench:fleet\`)`,
    `| was ${overSdk(call("small", 1, "ours-lean")).toFixed(2)} of the SDK's | 1 | ${
      overSdk(call("small", 1, "fetch")).toFixed(2)
    } |`,
    `| **${overSdk(stock("small", 1)).toFixed(2)}**, ${overUndici(stock("small", 1)).toFixed(1)} × undici |`,
    `| **${ourMs} ms** | ${sdkMs} ms | ${fetchMs} ms |`,
    `| **${libraryMs} ms** | ${sdkImportMs} ms | none |`,
    `| **${round(ourKb)} kB** with Effect | ${round(sdkKb)} kB | ${fetchKb} kB |`,
    `the same suite of ${suite(matrixOf(true)).length} tests`
  ],
  "examples/guides/performance.md": [
    ...Object.entries(clients).map(([name, client]) => `| ${name} | ${share(1, client)} | ${share(50, client)} |`),
    `costs ${
      range((["small", "job"] as const).flatMap((payload) => [1, 50].map((at) => overUndici(stock(payload, at)))), (
        value
      ) => value.toFixed(1))
    } times what undici costs`,
    `${/\d+ kB/.exec(titles.page)?.[0]}) costs ${
      overUndici(call("page", 1, "ours-lean")).toFixed(2)
    } of \`undici.request\` with \`JSON.parse\`, one at a ` +
    `time, and ${
      overUndici(call("page", 50, "ours-lean")).toFixed(2)
    } of it 50 at a time. Over \`layerUndici\` it costs ` +
    `${overSdk(stock("page", 1)).toFixed(2)} and ${overSdk(stock("page", 50)).toFixed(2)} of the SDK's`,
    `costs ${decoding("ours")} times \`JSON.parse\` alone; zod ${decoding("zod")}, typebox ${decoding("typebox")}, ` +
    `valibot ${decoding("valibot")}, \`Schema.is\` ${decoding("Schema.is")} (`,
    `takes ${libraryMs} ms, ${overPlatform} times what these modules take alone, and ${importOverSdk} times what the ` +
    `vendor's SDK takes. A bundled script of one call takes ${ourMs} ms, with the vendor's SDK ${sdkMs} ms, with nothing ` +
    `but \`fetch\` ${fetchMs} ms.`,
    `is a bundle of ${ourKb} kB, minified and gzipped; with the vendor's SDK it is ${sdkKb} kB.`,
    `one operation adds ${oneKb} kB, and the whole library ${allKb} kB.`,
    `with ${grouped(1000)} calls in flight a call costs ${cell("scale", 2, "1000", "ours-lean")} us, with ` +
    `${grouped(10_000)} ${cell("scale", 2, "10000", "ours-lean")} us.`,
    `takes about ${(Number(cell("scale", 1, "100000")) / 1000).toFixed(0)} kB;`,
    `adds ${added.toFixed(1)} us to a call if no tracer is set. A tracer's two spans cost about ${spans.toFixed(0)} us`,
    `ends within ${Math.ceil(interrupted.max)} ms; half of them within ${
      (Math.ceil(interrupted.p50 * 10) / 10).toFixed(1)
    } ms`,
    `${
      range(ours.map(({ goodput }) => Number(goodput)), (value) => Math.floor(value * 100))
    } % of what a bucket allows`,
    `has ${cell("memory", 7, "stream")} of the throughput`,
    `adds ${journal("10")} ms to each redelivered event`
  ],
  "examples/guides/faq.md": [
    `A bundle of one operation has ${round(ourKb)} kB gzipped, with all that it uses of Effect; the SDK's has ${
      round(sdkKb)
    } kB.`,
    `it adds ${round(oneKb)} kB. The bundled script ends after ${ourMs} ms, the SDK's after ${sdkMs} ms, one with ` +
    `\`fetch\` alone after ${fetchMs} ms. Unbundled, importing takes ${libraryMs} ms, and the SDK ${sdkImportMs} ms; ` +
    `${platformMs} ms of ours are`
  ],
  "examples/guides/migrating-from-the-sdk.md": [
    `${round(ourKb)} kB gzipped against ${round(sdkKb)}, ${ourMs} ms against ${sdkMs} (`
  ],
  "examples/guides/layers-and-http-clients.md": [
    `${
      (micros("small", 1, "ours-lean") / micros("small", 1, "ours-stock")).toFixed(2)
    } of the processor time with the platform's undici, one at a time`
  ],
  "examples/guides/rate-limits.md": (["2/s", "16/s", "100/min", "16/s, two clients"] as const).flatMap((scenario) =>
    (["ours", "auth0"] as const).map((client) => {
      const { calls, failed, goodput: share429, share } = goodput(scenario, client)
      const [name = "", clients = "one"] = scenario.replace(" clients", "").split(", ")
      return `| ${name}, ${clients} | ${
        client === "ours" ? "this" : "the SDK"
      } | ${failed} of ${calls} | ${share} | ${share429} |`
    })
  ),
  "examples/guides/fleet.md": ([
    ["all goes well", "8 processes", "yes"],
    ["the lease's holder dies", "lease holder killed", "yes"],
    ["the store stops for 3 s", "store stopped 3 s", "yes"],
    ["all goes well", "8 processes", "no"]
  ] as const).map(([name, scenario, shared]) => {
    const { calls, failed, goodput, share, tokens } = fleet(scenario, shared)
    return `| ${name} | ${shared} | ${failed} of ${calls} | ${share} | ${goodput} | ${tokens} |`
  }),
  "examples/guides/pagination.md": [
    `a stream of ${grouped(cell("memory", 1, "stream"))} versions`,
    `had ${cell("memory", 7, "stream")} of the throughput of a loop`,
    `peaked at ${streamed.peak} MB, and was ${streamed.often} MB after it had read one page often. The loop's was ${
      cell("memory", 6, "by hand")
    } MB`
  ],
  "examples/guides/redelivery.md": [
    `takes ${journal("10")} ms for each event at the default concurrency of 10, and ${journal("1")} ms one at a time`
  ],
  "examples/guides/retries.md": [
    ...outages.map(([failing, client, requests, retries, failed, onlyHere]) =>
      `| ${failing} | ${client} | ${grouped(requests)} | ${retries} | ${grouped(failed)} | ${onlyHere} |`
    ),
    `every operation against ${faults.length} faults`,
    `${grouped(callers)} concurrent first calls make one token request.`,
    `interrupted caller is gone within ${Math.ceil(interrupted.max)} ms`
  ],
  "examples/guides/telemetry.md": [
    `telemetry adds ${added.toFixed(1)} us to a call, which is ${
      (100 * added / found(overLoopback[0], "telemetry").included).toFixed(0)
    } % of a call over loopback. The two spans of a call cost about ${spans.toFixed(0)} us, and ${
      range(overLoopback.map(({ included, traced }) => traced - included), (value) => value.toFixed(0))
    } us over loopback`
  ]
}

/** Joins lines, and makes cells of tables narrow. */
const plain = (text: string) => text.replace(/\s+/g, " ")

/** A number with a decimal point or a unit. */
const figure = /\d+\.\d+(?!\.)|\d+ (?:µs|us|ms|kB|MB)\b/g

describe("the chart", () => {
  it("is drawn from the kept figures", () => {
    assert.isAbove(figures.rows.length, 50)
    assert.strictEqual(readFileSync(".assets/calls.svg", "utf8"), chart)
  })
})

describe("numbers of results", () => {
  for (const [path, texts] of Object.entries(quotes)) {
    it(`are in ${path} as kept`, () => {
      for (const text of texts) assert.include(plain(page(path)), text)
    })

    it(`are all checked in ${path}`, () => {
      const rest = texts.reduce(
        (page, text) => page.replaceAll(text, ""),
        plain(page(path).replace(/\n(?=\n|- |\|)/g, "\n¶"))
      )
      const paragraphs = rest.split("¶").filter((text) =>
        path.includes("performance") || text.includes("npm run bench")
      )
      for (const text of paragraphs) assert.deepStrictEqual(text.match(figure) ?? [], [], text)
    })
  }

  it("bear out what the pages say without a number", () => {
    for (const [failing, client, , , failed, onlyHere] of outages) {
      const most = failing === "100 %" ? 0.02 * Number(failed) : 0
      assert.isTrue(Number(onlyHere) <= most || client === "a circuit", client)
    }
    assert.deepStrictEqual(new Set(ours.map(({ failed }) => failed)), new Set(["0"]))
    // Two processes that do not know of each other may be refused at times, and only refusals show the limit of bare 429s.
    const alone = ours.filter(({ scenario }) => !/two clients|bare/.test(scenario))
    assert.deepStrictEqual(new Set(alone.map(({ refused }) => refused)), new Set(["0"]))
    assert.include(fleet("8 processes", "yes"), { failed: "0", refused: "0", tokens: "1" })
    assert.deepStrictEqual([tokenRequests, failedCalls], ["1", "0"])
    // "half of that is its fiber"
    assert.closeTo(Number(cell("scale", 2, "100000")) / Number(cell("scale", 1, "100000")), 0.5, 0.05)
  })
})

describe("the suite of the runtimes", () => {
  it("has the number of tests that each row of the guide shows", () => {
    const rows = [...guide("runtimes").matchAll(/^(\w.{16})(\S+) +(\d+) +0 +[\d.]+$/gm)]
    assert.isAbove(rows.length, 8)
    const tests = suite(matrixOf(true)).length
    // Rows of workerd also have the test of the guide's worker.
    for (const [line, runtime = "", , passed] of rows) {
      assert.strictEqual(Number(passed), tests + (runtime.startsWith("workerd") ? 1 : 0), line)
    }
  })
})

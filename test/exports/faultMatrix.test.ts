/** Each fault of a download has a known end, over `fetch` and over undici, and no output tells a token, a link or a row. */
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Exit, Stream } from "effect"
import { createHash } from "node:crypto"
import { type ExportReason, type Row, run } from "../../src/Exports.js"
import { Errors } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import { found, seen as observe } from "../support/canaries.js"
import { canaries, fastClock, gzip, jobs, ndjson, type Respond, send, serve, users } from "../support/storage.js"

const count = 2000
const text = ndjson(count)
const file = gzip(text)
const half = Math.floor(file.length / 2)

/** The same lines; one has garbage in its middle. */
const withGarbage = (() => {
  const bytes = Buffer.from(text)
  const line = bytes.indexOf("user1000@")
  bytes.write("\u0000\"}\u0007{", line)
  return gzip(bytes)
})()

const corrupt = (() => {
  const bytes = Buffer.from(file)
  bytes.fill(0xff, half, half + 64)
  return bytes
})()

const html = `<!doctype html><title>Sign in</title><p>${"x".repeat(10_000)}`

interface Fault {
  readonly name: string
  readonly respond: Respond
  /** The end of the export; `whole`: all rows, each once. */
  readonly end: "whole" | "oneBadRow" | ExportReason
  /** The number of requests to the storage, and of looks at the job. */
  readonly requests: number
  readonly looks: number
  /** The response to a look at the job, counted from 0 (default: it has ended). */
  readonly look?: Parameters<typeof jobs>[2]
}

/** A limit, no response, an unavailable service. */
const failsToLook = (nth: number) => {
  const details = { operation: "getJob", message: "no" }
  return nth === 1
    ? new Errors.RateLimited({ ...details, source: "limiter" })
    : nth === 2
    ? new Errors.TransportError({ ...details, outcome: "unknown" })
    : new Errors.UnexpectedResponse({ ...details, status: 503, reason: "status", shape: "" })
}

const faults: ReadonlyArray<Fault> = [
  { name: "none", respond: (to, request) => send(to, request, file), end: "whole", requests: 1, looks: 1 },
  {
    name: "none, in small parts",
    respond: (to, request) => send(to, request, file, { partSize: 20_000 }),
    end: "whole",
    requests: Math.ceil(file.length / 20_000),
    looks: 1
  },
  {
    name: "no ranges",
    respond: (to, request) => send(to, request, file, { ranges: false }),
    end: "whole",
    requests: 1,
    looks: 1
  },
  {
    name: "no ranges and no length",
    respond: (to, request) => send(to, request, file, { ranges: false, chunked: true }),
    end: "whole",
    requests: 1,
    looks: 1
  },
  {
    name: "a link that ends midway",
    respond: (to, request, nth) =>
      request.url.includes("link=0") && nth > 0
        ? void to.writeHead(403).end("expired")
        : send(to, request, file, nth === 0 ? { breakAt: half } : {}),
    end: "whole",
    requests: 3,
    looks: 2
  },
  {
    name: "a link that ends while the service is unavailable",
    respond: (to, request, nth) =>
      request.url.includes("link=0") && nth > 0
        ? void to.writeHead(403).end("expired")
        : send(to, request, file, nth === 0 ? { breakAt: half } : {}),
    look: (nth) => [1, 2, 3].includes(nth) ? failsToLook(nth) : Effect.succeed({}),
    end: "whole",
    requests: 3,
    looks: 5
  },
  { name: "403 for ever", respond: (to) => void to.writeHead(403).end(html), end: "refused", requests: 5, looks: 5 },
  {
    name: "404 at first",
    respond: (to, request, nth) => nth < 2 ? void to.writeHead(404).end() : send(to, request, file),
    end: "whole",
    requests: 3,
    looks: 1
  },
  { name: "503 for ever", respond: (to) => void to.writeHead(503).end(), end: "status", requests: 5, looks: 1 },
  {
    name: "truncated gzip",
    respond: (to, request) => send(to, request, file.subarray(0, half)),
    end: "truncated",
    requests: 1,
    looks: 1
  },
  {
    name: "gzip without its trailer",
    respond: (to, request) => send(to, request, file.subarray(0, -8)),
    end: "truncated",
    requests: 1,
    looks: 1
  },
  { name: "damaged gzip", respond: (to, request) => send(to, request, corrupt), end: "corrupt", requests: 1, looks: 1 },
  {
    name: "a damaged checksum",
    respond: (to, request) =>
      send(to, request, Buffer.concat([file.subarray(0, -8), Buffer.alloc(4), file.subarray(-4)])),
    end: "corrupt",
    requests: 1,
    looks: 1
  },
  {
    name: "a length that is too large",
    respond: (to, request) =>
      send(to, request, Buffer.concat([file, Buffer.alloc(9)]), { ranges: false, breakAt: file.length }),
    end: "length",
    requests: 5,
    looks: 1
  },
  {
    name: "another length on the second request",
    respond: (to, request, nth) =>
      send(to, request, nth === 0 ? file : Buffer.concat([file, file]), nth === 0 ? { breakAt: half } : {}),
    end: "length",
    requests: 2,
    looks: 1
  },
  {
    name: "a file that became shorter",
    respond: (to, request, nth) =>
      send(to, request, nth === 0 ? file : file.subarray(0, 100), nth === 0 ? { breakAt: half } : {}),
    end: "length",
    requests: 2,
    looks: 1
  },
  {
    name: "another part than was asked for",
    respond: (to) => void to.writeHead(206, { "content-range": `bytes 5-10/${file.length}` }).end(file.subarray(5, 11)),
    end: "length",
    requests: 1,
    looks: 1
  },
  {
    name: "a part without a place",
    respond: (to) => void to.writeHead(206).end(file),
    end: "length",
    requests: 1,
    looks: 1
  },
  {
    name: "a file that becomes another",
    respond: (to, request, nth) =>
      send(to, request, file, { breakAt: nth === 0 ? half : Infinity, headers: { etag: `"${nth}"` } }),
    end: "changed",
    requests: 2,
    looks: 1
  },
  {
    name: "a redirect to another host",
    respond: (to) => void to.writeHead(302, { location: `https://other.example.com/?s=${canaries.signature}` }).end(),
    end: "redirect",
    requests: 1,
    looks: 1
  },
  {
    name: "a redirect without a target",
    respond: (to) => void to.writeHead(307).end(),
    end: "redirect",
    requests: 1,
    looks: 1
  },
  {
    name: "a redirect to the same host",
    respond: (to, request) =>
      request.url === "/moved" ? send(to, request, file) : void to.writeHead(302, { location: "/moved" }).end(),
    end: "whole",
    requests: 2,
    looks: 1
  },
  {
    name: "redirects without an end",
    respond: (to) => void to.writeHead(302, { location: "/again" }).end(),
    end: "redirect",
    requests: 4,
    looks: 1
  },
  {
    name: "a web page",
    respond: (to) => void to.writeHead(200, { "content-type": "text/html" }).end(html),
    end: "not-gzip",
    requests: 1,
    looks: 1
  },
  {
    name: "a web page midway",
    respond: (to, request, nth) =>
      nth === 0
        ? send(to, request, file, { breakAt: half, ranges: false, chunked: true })
        : void to.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html),
    end: "not-gzip",
    requests: 2,
    looks: 1
  },
  {
    name: "something else midway",
    respond: (to, request, nth) =>
      nth === 0
        ? send(to, request, file, { breakAt: half, ranges: false, chunked: true })
        : void to.write("\u001f", () => setTimeout(() => to.end(html), 5)),
    end: "not-gzip",
    requests: 2,
    looks: 1
  },
  { name: "JSON", respond: (to) => void to.end(text), end: "not-gzip", requests: 1, looks: 1 },
  { name: "nothing", respond: (to) => void to.writeHead(200).end(), end: "truncated", requests: 1, looks: 1 },
  {
    name: "garbage in the middle of a line",
    respond: (to, request) => send(to, request, withGarbage),
    end: "oneBadRow",
    requests: 1,
    looks: 1
  },
  {
    name: "a reset midway, with ranges",
    respond: (to, request, nth) => send(to, request, file, nth < 4 ? { breakAt: (nth + 1) * 20_000 } : {}),
    end: "whole",
    requests: 5,
    looks: 1
  },
  {
    name: "a reset midway, without ranges",
    respond: (to, request, nth) =>
      send(to, request, file, { ranges: false, breakAt: nth < 4 ? (nth + 1) * 20_000 : Infinity }),
    end: "whole",
    requests: 5,
    looks: 1
  },
  {
    name: "a reset midway, without ranges and lengths",
    respond: (to, request, nth) =>
      send(to, request, file, { ranges: false, chunked: true, breakAt: nth === 0 ? half : Infinity }),
    end: "whole",
    requests: 2,
    looks: 1
  },
  {
    name: "a reset midway that closes the connection",
    respond: (to, request, nth) =>
      send(to, request, file, { breakAt: nth === 0 ? half : Infinity, headers: { connection: "close" } }),
    end: "whole",
    requests: 2,
    looks: 1
  },
  {
    name: "a reset at the same byte for ever",
    respond: (to, request) => send(to, request, file, { breakAt: half }),
    end: "length",
    requests: 5,
    looks: 1
  },
  { name: "a reset at once", respond: (to) => void to.socket?.resetAndDestroy(), end: "network", requests: 5, looks: 1 }
]

const clients = [
  ["fetch", FetchHttpClient.layer],
  ["undici", Node.layerHttpClient]
] as const

const digest = (rows: Iterable<unknown>): string =>
  createHash("sha256").update(Array.from(rows, (row) => JSON.stringify(row)).join("\n")).digest("hex")

const allRows = digest(users(count))
const otherRows = digest(users(count).filter((_, nth) => nth !== 1000))

describe.each(clients)("over %s", (_, http) => {
  it.live.each(faults)("$name", ({ end, look, looks, requests, respond }) =>
    Effect.gen(function*() {
      const storage = yield* serve(respond)
      const { layer, seen } = jobs(storage.origin, "json", look)
      const rows: Array<Row> = []
      const bad: Array<string> = []
      const { exit, texts } = yield* observe(
        run({ format: "json" }).pipe(
          Stream.runForEachChunk((chunk) =>
            Effect.sync(() => {
              for (const each of Chunk.toReadonlyArray(chunk)) {
                if (Either.isRight(each)) rows.push(each.right)
                else bad.push(`${each.left.line}: ${each.left.message} ${String(each.left)}`)
              }
            })
          ),
          Effect.provide([layer, http]),
          Effect.withClock(fastClock())
        )
      )
      if (end === "whole" || end === "oneBadRow") {
        assert.isTrue(Exit.isSuccess(exit), String(exit))
        assert.strictEqual(digest(rows), end === "whole" ? allRows : otherRows)
        assert.strictEqual(bad.length, end === "whole" ? 0 : 1)
      } else {
        const error = yield* Effect.flip(exit)
        assert.strictEqual(error._tag === "ExportError" ? error.reason : error._tag, end, String(error))
        assert.strictEqual(error._tag === "ExportError" ? error.job : "", seen.looks[0])
        // The rows so far came in order, none twice. Damage may show only by the checksum at the end.
        if (end !== "corrupt") assert.strictEqual(digest(rows), digest(users(count).slice(0, rows.length)))
      }
      // A reset may lose bytes on their way, so that the next attempt brings new ones.
      if (end === "length" && requests === 5) assert.isTrue([5, 6, 7].includes(storage.requests.length))
      else assert.strictEqual(storage.requests.length, requests)
      assert.strictEqual(seen.looks.length, looks)
      assert.strictEqual(seen.started, 1)
      for (const { headers } of storage.requests) {
        assert.notProperty(headers, "authorization")
        assert.notProperty(headers, "traceparent")
        assert.notProperty(headers, "b3")
      }
      for (const [place, text] of [...texts, ["bad rows", bad.join("\n")] as const]) {
        assert.deepStrictEqual(found(canaries, text), [], place)
      }
    }).pipe(Effect.scoped))
})

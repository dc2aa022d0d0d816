/** The download of a file: each byte once, over several requests; what contradicts itself; the failures and waits; and the links. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Duration, Effect, Either, Stream } from "effect"
import { download } from "../../src/internal/exports/download.js"
import { fastClock } from "../support/storage.js"

/** A file that begins like gzip. */
const file = Uint8Array.from({ length: 100 }, (_, nth) => [0x1f, 0x8b][nth] ?? nth)

type Headers = Readonly<Record<string, string>>

/** A body that comes in these chunks, and then ends or breaks. */
const bodyOf = (chunks: ReadonlyArray<Uint8Array>, error?: Error): ReadableStream<Uint8Array> => {
  let nth = 0
  return new ReadableStream({
    pull: (controller) => {
      const chunk = chunks[nth++]
      if (chunk !== undefined) controller.enqueue(chunk)
      else if (error === undefined) controller.close()
      else controller.error(error)
    }
  })
}

const reset = Object.assign(new Error("secret"), { code: "ECONNRESET" })

/** The bytes from an offset to an end; `claimed` is the end in the head. */
const part = (from: number, to: number, { error, headers = {}, claimed = to, total = file.length }: {
  readonly claimed?: number
  readonly total?: number
  readonly headers?: Headers
  readonly error?: Error
} = {}) =>
  new Response(bodyOf(from < to ? [file.subarray(from, to)] : [], error), {
    status: 206,
    headers: { "content-range": `bytes ${from}-${claimed - 1}/${total}`, ...headers }
  })

/** The bytes from the start on, without a range. */
const whole = (to: number, { error, headers = {} }: { readonly headers?: Headers; readonly error?: Error } = {}) =>
  new Response(bodyOf([file.subarray(0, to)], error), { status: 200, headers })

type Respond = (from: number, nth: number) => Response

/** Downloads from a storage that responds so, each time after some seconds. */
const run = (respond: Respond, seconds = 0) =>
  Effect.gen(function*() {
    const urls: Array<string> = []
    const offsets: Array<number> = []
    const waits: Array<number> = []
    const changes: Array<unknown> = []
    const chunks: Array<Uint8Array> = []
    let links = 0
    const client = HttpClient.make((request) => {
      const from = Number(/^bytes=(\d+)-/.exec(request.headers["range"] ?? "")?.[1])
      urls.push(request.url.slice(-2))
      const response = Effect.sync(() => HttpClientResponse.fromWeb(request, respond(from, offsets.push(from) - 1)))
      return seconds === 0 ? response : Effect.zipRight(Effect.sleep(Duration.seconds(seconds)), response)
    })
    const clock = fastClock()
    const sleep = (duration: Duration.Duration) => {
      const millis = Duration.toMillis(duration)
      if (millis < 50_000) waits.push(millis / 1000)
      return clock.sleep(duration)
    }
    const bytes = download({
      client,
      freshLink: Effect.sync(() => new URL(`https://storage.example.com/${++links}`)),
      track: (change) => Effect.sync(() => void changes.push(change))
    }, new URL("https://storage.example.com/0"))
    const end = yield* Stream.runForEachChunk(
      bytes,
      (all) => Effect.sync(() => void chunks.push(...Chunk.toReadonlyArray(all)))
    ).pipe(Effect.either, Effect.withClock({ ...clock, sleep }))
    return { urls, offsets, waits, changes, chunks, content: Buffer.concat(chunks), error: Either.getLeft(end) }
  })

/** The failure of a download from a storage that responds so, the bytes before it, the requests and waits. */
const failing = (respond: Respond) =>
  Effect.map(run(respond), ({ content, error, offsets, waits }) => ({
    error: error._tag === "Some" ? error.value : undefined,
    bytes: content.length,
    requests: offsets.length,
    waits
  }))

describe("a download", () => {
  it.live("takes the parts one after the other, without a wait, and tells how far it is", () =>
    Effect.gen(function*() {
      const { changes, content, error, offsets, waits } = yield* run((from) => part(from, Math.min(100, from + 40)))
      assert.strictEqual(error._tag, "None")
      assert.deepStrictEqual([...content], [...file])
      assert.deepStrictEqual(offsets, [0, 40, 80])
      assert.deepStrictEqual(waits, [])
      assert.deepInclude(changes, { bytes: 0, totalBytes: 100 })
      assert.deepInclude(changes, { bytes: 80, totalBytes: 100 })
      assert.deepStrictEqual(changes.at(-1), { bytes: 100 })
    }))

  it.live.each<readonly [string, ReadonlyArray<Headers>]>([
    ["the same in each part", [{ etag: "\"a\"" }, { etag: "\"a\"" }, { etag: "\"a\"" }]],
    ["missing in a part", [{ etag: "\"a\"" }, {}, { etag: "\"a\"" }]],
    ["missing in the first part", [{}, { etag: "\"a\"" }, { etag: "\"a\"" }]]
  ])("accepts a tag of the file that is %s", ([, tags]) =>
    Effect.gen(function*() {
      const { content } = yield* run((from, nth) => part(from, Math.min(100, from + 40), { headers: tags[nth] ?? {} }))
      assert.deepStrictEqual([...content], [...file])
    }))

  it.live.each<readonly [string, ReadonlyArray<Headers>]>([
    ["in the next part", [{ etag: "\"a\"" }, { etag: "\"b\"" }]],
    ["after a part without a tag", [{ etag: "\"a\"" }, {}, { etag: "\"b\"" }]]
  ])("fails if the tag of the file is another %s", ([, tags]) =>
    Effect.gen(function*() {
      const { bytes, error, requests } = yield* failing((from, nth) =>
        part(from, Math.min(100, from + 40), { headers: tags[nth] ?? {} })
      )
      assert.deepInclude(error, { reason: "changed", message: "the file in the storage has become another" })
      assert.deepStrictEqual([bytes, requests], [40 * (tags.length - 1), tags.length])
    }))

  it.live.each<readonly [string, Respond]>([
    ["the total of a part", (from) => from === 0 ? part(0, 40) : part(from, 60, { total: 99 })],
    [
      "the length of the whole",
      (from) => from === 0 ? part(0, 40) : whole(60, { headers: { "content-length": "60" } })
    ],
    [
      "a length below what has come",
      (from) => from === 0 ? whole(60, { error: reset }) : whole(40, { headers: { "content-length": "40" } })
    ],
    [
      "a length of nothing",
      (from) => from === 0 ? whole(60, { error: reset }) : whole(0, { headers: { "content-length": "0" } })
    ]
  ])("fails if the storage contradicts itself by %s", ([, respond]) =>
    Effect.gen(function*() {
      const { error, requests } = yield* failing(respond)
      assert.deepInclude(error, {
        reason: "length",
        message: "the storage tells another length of the file than before"
      })
      assert.strictEqual(requests, 2)
    }))

  it.live.each<readonly [string, string, Headers]>([
    ["changed", "tag", { etag: "\"b\"" }],
    ["length", "length", { "content-length": "99" }]
  ])("reads no more of a response that it refuses: %s, by its %s", ([reason, , headers]) =>
    Effect.gen(function*() {
      let isClosed = false
      const endless = () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(new Uint8Array(1000)),
            cancel: () => void (isClosed = true)
          }),
          { headers }
        )
      const { error } = yield* failing((from) => from === 0 ? part(0, 40, { headers: { etag: "\"a\"" } }) : endless())
      assert.propertyVal(error, "reason", reason)
      assert.isTrue(isClosed)
    }))

  it.live("accepts a length that comes later", () =>
    Effect.gen(function*() {
      const { content } = yield* run((from) =>
        from === 0 ? whole(60, { error: reset }) : whole(100, { headers: { "content-length": "100" } })
      )
      assert.deepStrictEqual([...content], [...file])
    }))
})

describe("the first bytes of a file", () => {
  const response = (chunks: ReadonlyArray<ReadonlyArray<number>>) => () =>
    new Response(bodyOf(chunks.map((chunk) => Uint8Array.from(chunk))))

  it.live("may come in chunks of any size", () =>
    Effect.gen(function*() {
      const all = [[[0x1f, 0x8b, 0, 1]], [[0x1f], [0x8b, 0, 1]], [[], [0x1f], [], [0x8b], [0, 1]], [[0x1f, 0x8b], [
        0,
        1
      ]]]
      for (const chunks of all) {
        const { content } = yield* run(response(chunks))
        assert.deepStrictEqual([...content], [0x1f, 0x8b, 0, 1], JSON.stringify(chunks))
      }
    }))

  it.live("are those of gzip, or the download fails", () =>
    Effect.gen(function*() {
      const all: ReadonlyArray<readonly [chunks: ReadonlyArray<ReadonlyArray<number>>, before: number]> = [
        [[[0x3c, 0x68, 0x74]], 0],
        [[[0x00]], 0],
        [[[0x3c, 0x8b, 0x08]], 0],
        [[[0x00, 0x8b, 0x08]], 0],
        [[[], [0x8b, 0x1f]], 0],
        [[[0x1f, 0x00, 0x8b]], 0],
        [[[0x1f, 0x3c, 0x8b]], 0],
        [[[0x1f], [0x00]], 1],
        [[[0x1f], [0x3c, 0x3c, 0x8b]], 1],
        [[[0x1f], [], [0x1f, 0x8b]], 1]
      ]
      for (const [chunks, before] of all) {
        const { bytes, error, requests } = yield* failing(response(chunks))
        const expected = { reason: "not-gzip", message: "the storage sent something that is not a gzip file" } as const
        assert.deepInclude(error, expected, JSON.stringify(chunks))
        assert.deepStrictEqual([bytes, requests], [before, 1], JSON.stringify(chunks))
      }
    }))

  it.live("are looked at again if the file comes anew", () =>
    Effect.gen(function*() {
      const { bytes, error } = yield* failing((from) =>
        from === 0 ? whole(60, { error: reset }) : response([[0x3c, 0x68]])()
      )
      assert.propertyVal(error, "reason", "not-gzip")
      assert.strictEqual(bytes, 60)
    }))
})

describe("a download that breaks", () => {
  const doubled = [1, 2, 4, 8]

  it.live.each<readonly [string, Respond, object]>([
    ["whose parts end early", (from) => part(from, 60, { claimed: 100 }), {
      reason: "length",
      message: "the response ended after 60 of 100 bytes, 5 times in a row",
      code: undefined
    }],
    ["whose parts break", (from) => part(from, 60, { claimed: 100, error: reset }), {
      reason: "length",
      message: "the response ended after 60 of 100 bytes, 5 times in a row",
      code: "ECONNRESET"
    }],
    ["whose whole breaks at the same byte", () => whole(60, { error: reset, headers: { "content-length": "100" } }), {
      reason: "length",
      message: "the response ended after 60 of 100 bytes, 5 times in a row",
      code: "ECONNRESET"
    }],
    [
      "whose whole breaks before that byte, later",
      (_, nth) => whole(nth === 0 ? 60 : 50, { error: reset, headers: { "content-length": "100" } }),
      {
        reason: "network",
        message: "the download broke off (ECONNRESET), 5 times in a row",
        code: "ECONNRESET"
      }
    ],
    ["whose length is not known", () => whole(60, { error: reset }), {
      reason: "network",
      message: "the download broke off (ECONNRESET), 5 times in a row",
      code: "ECONNRESET"
    }]
  ])("%s fails at the fifth time without a new byte", ([, respond, expected]) =>
    Effect.gen(function*() {
      const { bytes, error, requests, waits } = yield* failing(respond)
      const { code, message, reason } = error ?? {}
      assert.deepStrictEqual({ reason, message, code }, expected)
      assert.deepStrictEqual([bytes, requests, waits], [60, 5, doubled])
    }))

  it.live.each<readonly [number, object]>([
    [503, { reason: "status", message: "the storage responded with 503, 5 times in a row", status: 503 }],
    [403, { reason: "refused", message: "the storage refused the link (403), 5 times in a row", status: 403 }]
  ])("by the status %s fails at the fifth time", ([status, expected]) =>
    Effect.gen(function*() {
      const { error, requests } = yield* failing(() => new Response("no", { status }))
      assert.deepInclude(error, { _tag: "ExportError", ...expected })
      assert.strictEqual(requests, 5)
    }))

  it.live("starts to count again with a new byte", () =>
    Effect.gen(function*() {
      // Four times no byte, then one, after which an end that is too early is the first failure again.
      const { content, error, waits } = yield* run((from, nth) =>
        from >= 3 ? part(from, 100) : part(from, from + (nth > 0 && nth % 4 === 0 ? 1 : 0), { claimed: 100 })
      )
      assert.strictEqual(error._tag, "None")
      assert.deepStrictEqual([...content], [...file])
      assert.deepStrictEqual(waits, [...doubled, ...doubled, ...doubled, 1])
    }))

  it.live("gives each byte once, though the storage sends all of them again", () =>
    Effect.gen(function*() {
      const { chunks, content, offsets } = yield* run((_, nth) =>
        nth < 2
          ? whole(60 - 20 * nth, { error: reset })
          : new Response(bodyOf([file.subarray(0, 30), file.subarray(30, 60), file.subarray(60)]))
      )
      assert.deepStrictEqual([...content], [...file])
      assert.deepStrictEqual(chunks.map(({ length }) => length), [60, 40])
      assert.deepStrictEqual(offsets, [0, 60, 60])
    }))
})

describe("the link of a download", () => {
  it.live("is used while it is good, and then another", () =>
    Effect.gen(function*() {
      const { content, urls } = yield* run((from) => part(from, from + 20), 26)
      assert.deepStrictEqual([...content], [...file])
      assert.deepStrictEqual(urls, ["/0", "/0", "/1", "/1", "/2"])
    }))

  it.live("is another once the storage refuses it, but not after another failure", () =>
    Effect.gen(function*() {
      const { content, urls } = yield* run((from, nth) =>
        nth === 1 || nth === 3 ? new Response("no", { status: nth === 1 ? 403 : 500 }) : part(from, from + 25)
      )
      assert.deepStrictEqual([...content], [...file])
      assert.deepStrictEqual(urls, ["/0", "/0", "/1", "/1", "/1", "/1"])
    }))
})

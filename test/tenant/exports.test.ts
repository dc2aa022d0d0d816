/** Tests of the parts that make up the files of export jobs: their hosts, their rows, their compression and their downloads. */
import * as Headers from "@effect/platform/Headers"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { gunzipSync } from "node:zlib"
import * as Tenant from "../../src/Tenant.js"
import { download } from "../../src/tenant/exports/download.js"
import * as Files from "../../src/tenant/exports/files.js"
import { fileOrigin } from "../../src/tenant/exports/link.js"
import { lines } from "../../src/tenant/exports/rows.js"
import { call, createUsersExport, host, itInProcess } from "./support/calls.js"

const job = { id: "job_1", type: "users_export", status: "completed", created_at: "1970-01-01T00:00:00.000Z" }

const xml = (code: string, message: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`

describe("the host of the files", () => {
  it.each([
    ["https://tenant.test/api/v2/jobs/job_1", "https://files.tenant.test"],
    ["http://tenant.test:8787/", "http://files.tenant.test:8787"],
    ["https://tenant.test?from=http://other.test", "https://files.tenant.test"],
    ["http://localhost/api/v2/jobs/job_1", "http://127.0.0.1"],
    ["http://localhost:8787/", "http://127.0.0.1:8787"],
    ["https://eu.tenant.localhost:8787/", "https://127.0.0.1:8787"],
    ["http://127.0.0.1/", "http://localhost"],
    ["http://127.20.3.4:8787/", "http://localhost:8787"],
    ["http://[::1]:8787/", "http://localhost:8787"],
    ["http://notlocalhost/", "http://files.notlocalhost"],
    ["http://localhost.example:8787/", "http://files.localhost.example:8787"]
  ])("of a request for %s in process is %s", (url, origin) => {
    assert.strictEqual(fileOrigin(HttpServerRequest.fromWeb(new Request(url))), origin)
  })

  const plain = () => new Socket()
  const tls = () => new TLSSocket(new Socket())

  it.each([
    { socket: plain, target: "/api/v2/jobs/job_1", host: "tenant.example", origin: "http://tenant.example" },
    { socket: tls, target: "/api/v2/jobs/job_1", host: "tenant.example:8787", origin: "https://tenant.example:8787" },
    { socket: plain, target: "/", host: "LOCALHOST:8787", origin: "http://127.0.0.1:8787" },
    { socket: tls, target: "/", host: "[::1]:8787", origin: "https://localhost:8787" },
    { socket: plain, target: "/", host: undefined, origin: "http://127.0.0.1" },
    { socket: plain, target: "/?from=https://other.test/", host: "tenant.example", origin: "http://tenant.example" },
    { socket: plain, target: "https://proxy.test/", host: "tenant.example", origin: "https://proxy.test" },
    { socket: plain, target: "/", host: "tenant.example", forwarded: "https", origin: "https://tenant.example" },
    { socket: plain, target: "/", host: "tenant.example", forwarded: "https, http", origin: "https://tenant.example" },
    { socket: tls, target: "/", host: "tenant.example", forwarded: "http", origin: "http://tenant.example" },
    { socket: plain, target: "/", host: "tenant.example", forwarded: "javascript", origin: "http://tenant.example" }
  ])("of a request for $target of $host on a socket is $origin", ({ forwarded, host, origin, socket, target }) => {
    const headers = Headers.fromInput({ host, "x-forwarded-proto": forwarded })
    const source = new IncomingMessage(socket())
    // Sound: nothing else of the request tells how the caller reaches the tenant.
    const request = { headers, originalUrl: target, source } as unknown as HttpServerRequest.HttpServerRequest
    assert.strictEqual(fileOrigin(request), origin)
  })
})

describe("a download", () => {
  const bytes = Uint8Array.from("0123456789", Number)
  const ofFile = { "accept-ranges": "bytes", etag: "\"tag\"" }
  const responseTo = (range?: string) => {
    const { headers, ...response } = download({ bytes, etag: ofFile.etag }, Headers.fromInput({ range }))
    return { ...response, headers: Object.fromEntries(Object.entries(headers)) }
  }

  it.each([undefined, "kilobytes=2-4", "bytes=2-4 "])("is whole for the range %o", (range) => {
    const headers = { ...ofFile, "content-type": "application/gzip" }
    assert.deepStrictEqual(responseTo(range), { status: 200, headers, body: bytes })
  })

  it("is a part for a range", () => {
    assert.deepStrictEqual(responseTo("bytes=2-4"), {
      status: 206,
      headers: { ...ofFile, "content-type": "application/gzip", "content-range": "bytes 2-4/10" },
      body: Uint8Array.of(2, 3, 4)
    })
  })

  it("is refused for a range beyond its end", () => {
    assert.deepStrictEqual(responseTo("bytes=10-"), {
      status: 416,
      headers: { "content-type": "application/xml", "content-range": "bytes */10" },
      body: xml("InvalidRange", "The requested range is not satisfiable")
    })
  })

  itInProcess(
    "is refused for a job that has given no link yet, and for other methods than GET",
    () =>
      Effect.gen(function*() {
        const { json: { id } } = yield* call(createUsersExport, { body: {} })
        for (const query of ["", "?signature=x"]) {
          const response = yield* HttpClient.get(`${host}/exports/${id}/users.json.gz${query}`)
          assert.deepStrictEqual(
            [response.status, yield* response.text],
            [403, xml("AccessDenied", "The signature is not valid, or the link has expired")]
          )
        }
        const response = yield* HttpClient.put(`${host}/exports/${id}/users.json.gz`)
        assert.deepStrictEqual(
          [response.status, yield* response.text],
          [405, xml("MethodNotAllowed", "The specified method is not allowed against this resource")]
        )
      })
  )
})

describe("the rows of a file", () => {
  const users = [
    { user_id: "1", identities: [{ connection: "a" }, { connection: "b" }], tags: ["x", ["y", "z"]] },
    { user_id: "2", identities: [{ connection: "b" }], tags: [] },
    { user_id: "3", identities: [] }
  ]
  const rowsOf = (more: object) => Array.from(lines(users, { ...job, ...more }), (line): unknown => JSON.parse(line))

  it("have items of lists, also of a list within a list", () => {
    const fields = ["tags[0]", "tags[1][1]", "identities[1].connection"].map((name) => ({ name }))
    assert.deepStrictEqual(rowsOf({ fields }), [
      { "tags[0]": "x", "tags[1][1]": "z", "identities[1].connection": "b" },
      {},
      {}
    ])
  })

  it.each([
    ["a", ["1"]],
    ["b", ["1", "2"]],
    ["c", []]
  ])("of the connection %s are those of its users, whatever other connections they have", (connection, ids) => {
    assert.deepStrictEqual(
      rowsOf({ connection, fields: [{ name: "user_id" }] }),
      ids.map((user_id) => ({ user_id }))
    )
  })
})

describe("the files of a tenant", () => {
  it.effect("are kept, four of them: another one replaces the oldest", () =>
    Effect.gen(function*() {
      const fileOf = Files.make()
      let made = 0
      const users = () => {
        made++
        return [{ user_id: "1" }]
      }
      const numbers: Array<number> = []
      for (const limits of [[1, 2, 3, 4], [1, 2, 3, 4], [5], [2, 3, 4, 5], [1]]) {
        for (const limit of limits) yield* fileOf({ ...job, limit }, users)
        numbers.push(made)
      }
      assert.deepStrictEqual(numbers, [4, 4, 5, 5, 6])
    }))

  it.effect("have every user, also if they are more than are compressed at once", () =>
    Effect.gen(function*() {
      const users = Tenant.makeUsers(10_000)
      const { bytes } = yield* Files.make()({ ...job, fields: [{ name: "user_id" }] }, users)
      const text = Array.from(users(), ({ user_id }) => `{"user_id":"${user_id}"}\n`).join("")
      assert.isTrue(gunzipSync(bytes).toString() === text, "another text") // `strictEqual` would print both
    }))

  it.live("are made piece by piece: each is compressed before the next", () =>
    Effect.gen(function*() {
      let rounds = 0
      const pieces = 20
      const seen = new Set<number>()
      const users = function*() {
        for (let number = 0; number < pieces; number++) {
          seen.add(rounds)
          yield { user_id: "u".repeat(100_000) }
        }
      }
      const immediate = () => {
        rounds++
        timer = setImmediate(immediate)
      }
      let timer = setImmediate(immediate)
      yield* Effect.ensuring(
        Files.make()({ ...job, fields: [{ name: "user_id" }] }, users),
        Effect.sync(() => clearImmediate(timer))
      )
      assert.isAtLeast(seen.size, pieces / 2, "rounds of the event loop in which users were asked for")
    }))

  it.live("fail as their users do, and can be made afterwards", () =>
    Effect.gen(function*() {
      const fileOf = Files.make()
      const broken = function*() {
        yield { user_id: "u".repeat(100_000) }
        throw new Error("no more users")
      }
      const cause = yield* Effect.sandbox(fileOf(job, broken)).pipe(Effect.flip)
      assert.deepStrictEqual(Cause.squash(cause), new Error("no more users"))
      const { bytes } = yield* fileOf({ ...job, fields: [{ name: "user_id" }] }, () => [{ user_id: "1" }])
      assert.strictEqual(gunzipSync(bytes).toString(), "{\"user_id\":\"1\"}\n")
    }))
})

/** Tests of the tenant's export jobs: their progress, their links and their files. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { gunzipSync } from "node:zlib"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"
import { reasonOf } from "../../support/httpErrors.js"
import { call, connection, createUsersExport, host, itInProcess, largeBuckets, tokenOf } from "../support/calls.js"

const getJob = operations.getJob.endpoint

/** Starts a job, and gives its id. */
const start = (body: object = {}) => Effect.map(call(createUsersExport, { body }), ({ json }): string => json.id)

const jobOf = (id: string) => Effect.map(call(getJob, { params: { id } }), ({ json }) => json)

/** Starts a job, waits for its end, and gives a link to its file. */
const linkOf = Effect.fn(function*(body: object = {}) {
  const id = yield* start(body)
  yield* TestClock.adjust("2 seconds")
  return String((yield* jobOf(id)).location)
})

const download = Effect.fn(function*(
  url: string,
  headers: Record<string, string> = {},
  method: "GET" | "HEAD" | "PUT" | "OPTIONS" = "GET"
) {
  const response = yield* HttpClient.execute(HttpClientRequest.make(method)(url, { headers }))
  return { status: response.status, headers: response.headers, bytes: Buffer.from(yield* response.arrayBuffer) }
})

const textOf = (url: string) => Effect.map(download(url), ({ bytes }) => gunzipSync(bytes).toString())

const users = [
  { user_id: "1", name: "Ada", age: 36, blocked: false, identities: [{ connection: connection.name }] },
  { user_id: "2", name: "=\"x\",\ny", user_metadata: { country: "DE" }, identities: [{ connection: "other" }] },
  { user_id: "3", name: "ü", user_metadata: { country: "FR" } }
]

const seed = { connections: [connection], users }

describe("a job", () => {
  itInProcess("is pending, is processed, and is completed with a link to another host", () =>
    Effect.gen(function*() {
      const id = yield* start({ format: "csv" })
      const created = { id, type: "users_export", created_at: "1970-01-01T00:00:00.000Z", format: "csv" }
      assert.deepStrictEqual(yield* jobOf(id), { ...created, status: "pending" })
      yield* TestClock.setTime(2499)
      assert.deepStrictEqual(yield* jobOf(id), { ...created, status: "pending" })
      yield* TestClock.setTime(2500)
      const processing = { ...created, status: "processing" }
      assert.deepStrictEqual(yield* jobOf(id), { ...processing, percentage_done: 0, time_left_seconds: 8 })
      yield* TestClock.setTime(9999)
      assert.deepStrictEqual(yield* jobOf(id), { ...processing, percentage_done: 99, time_left_seconds: 1 })
      yield* TestClock.setTime(10_000)
      const { location, ...completed } = yield* jobOf(id)
      assert.deepStrictEqual(completed, {
        ...created,
        status: "completed",
        percentage_done: 100,
        time_left_seconds: 0
      })
      assert.match(
        location,
        new RegExp(`^https://files\\.tenant\\.test/exports/${id}/users\\.csv\\.gz\\?signature=\\w{16}$`)
      )
    }), { durations: { export: "10 seconds" } })

  itInProcess("fails with the details that the settings give", () =>
    Effect.gen(function*() {
      const id = yield* start()
      assert.isUndefined((yield* jobOf(id)).failure)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* jobOf(id), {
        id,
        created_at: "1970-01-01T00:00:00.000Z",
        type: "users_export",
        format: "json",
        status: "failed",
        status_details: "out of disk"
      })
    }), { exports: { failure: "out of disk" } })

  itInProcess("may be seeded, pending or ended", () =>
    Effect.gen(function*() {
      const job = { type: "users_export", created_at: "1970-01-01T00:00:01.000Z" }
      const { seed, state } = yield* Tenant.Tenant
      yield* seed({
        jobs: [
          { ...job, id: "job_1", status: "pending", failure: "no" },
          { ...job, id: "job_2", status: "completed" },
          { ...job, id: "job_3", status: "failed", status_details: "why" }
        ]
      })
      yield* TestClock.setTime(3000)
      assert.deepInclude(yield* jobOf("job_1"), { status: "failed", status_details: "no" })
      assert.include((yield* jobOf("job_2")).location, "/exports/job_2/users.json.gz?")
      assert.deepInclude(yield* jobOf("job_3"), { status: "failed", status_details: "why" })
      assert.deepStrictEqual((yield* state).jobs.map(({ ended_at }) => ended_at), [3000, 3000, 3000])
    }), { seed: {} })

  itInProcess("gives a new link with each call, for 24 hours", () =>
    Effect.gen(function*() {
      const id = yield* start()
      yield* TestClock.setTime(2000 + 86_400_000 - 1)
      const [first, second] = [yield* jobOf(id), yield* jobOf(id)]
      assert.notStrictEqual(first.location, second.location)
      assert.strictEqual((yield* download(first.location)).status, 200)
      assert.strictEqual((yield* download(second.location)).status, 200)
      yield* TestClock.adjust("1 millis")
      const late = yield* jobOf(id)
      assert.deepStrictEqual([late.status, late.location], ["completed", undefined])
    }))

  itInProcess("keeps only the links that are good", () =>
    Effect.gen(function*() {
      const id = yield* start()
      const { state } = yield* Tenant.Tenant
      for (const time of [2000, 62_000]) {
        yield* TestClock.setTime(time)
        yield* jobOf(id)
      }
      assert.deepStrictEqual((yield* state).jobs.at(-1)?.links?.map(({ expires_at }) => expires_at), [122_000])
    }))

  itInProcess("that does not exist is a 404, and more than 30 fields are a 400", () =>
    Effect.gen(function*() {
      const response = yield* call(getJob, { params: { id: "job_none" } })
      assert.deepStrictEqual([response.status, response.json.message], [404, "The job does not exist."])
      const fields = Array.from({ length: 31 }, (_, index) => ({ name: `f${index}` }))
      const tooMany = yield* call(createUsersExport, { body: { fields } })
      assert.deepStrictEqual(
        [tooMany.status, tooMany.json.message],
        [400, "Payload validation error: 'Must have at most 30 items' on property fields"]
      )
      assert.strictEqual((yield* call(createUsersExport, { body: { fields: fields.slice(1) } })).status, 200)
    }))

  itInProcess("has links to the origin of the settings", () =>
    Effect.gen(function*() {
      assert.match(yield* linkOf(), /^https:\/\/storage\.example\/exports\/job_\w+\/users\.json\.gz\?/)
    }), { exports: { origin: "https://storage.example" } })
})

describe("the file of a job", () => {
  itInProcess("has a user a line as JSON, with the fields that are set", () =>
    Effect.gen(function*() {
      const fields = [{ name: "user_id" }, { name: "user_metadata.country" }, { name: "identities[0].connection" }]
      const lines = (yield* textOf(yield* linkOf({ fields }))).split("\n")
      assert.deepStrictEqual(lines.slice(0, 3).map((line) => JSON.parse(line)), [
        { user_id: "1", "identities[0].connection": connection.name },
        { user_id: "2", "user_metadata.country": "DE", "identities[0].connection": "other" },
        { user_id: "3", "user_metadata.country": "FR" }
      ])
      assert.deepStrictEqual(lines.slice(3), [""])
    }), { seed })

  itInProcess("has the usual fields if none are set", () =>
    Effect.gen(function*() {
      const [line = ""] = (yield* textOf(yield* linkOf({ limit: 1 }))).split("\n")
      assert.hasAllKeys(JSON.parse(line), [
        "user_id",
        "email",
        "email_verified",
        "name",
        "nickname",
        "given_name",
        "family_name",
        "created_at",
        "updated_at"
      ])
    }))

  itInProcess(
    "guards every string of CSV with a single quote, and doubles double quotes",
    () =>
      Effect.gen(function*() {
        const fields = [
          { name: "user_id" },
          { name: "name", export_as: "The \"name\"" },
          { name: "age" },
          { name: "blocked" },
          { name: "user_metadata" },
          { name: "user_metadata.country" },
          { name: "constructor.name" }
        ]
        assert.strictEqual(
          yield* textOf(yield* linkOf({ format: "csv", fields })),
          `"user_id","The ""name""","age","blocked","user_metadata","user_metadata.country","constructor.name"\n` +
            `"'1","'Ada",36,false,,,\n` +
            `"'2","'=""x"",\ny",,,,"'DE",\n` +
            `"'3","'ü",,,,"'FR",\n`
        )
      }),
    { seed }
  )

  itInProcess("has the users of the connection, as many as the limit", () =>
    Effect.gen(function*() {
      const fields = [{ name: "user_id" }]
      const ids = (body: object) =>
        Effect.map(Effect.flatMap(linkOf({ fields, ...body }), textOf), (text) => text.match(/\d/g) ?? [])
      assert.deepStrictEqual(yield* ids({}), ["1", "2", "3"])
      assert.deepStrictEqual(yield* ids({ limit: 2 }), ["1", "2"])
      assert.deepStrictEqual(yield* ids({ connection_id: connection.id }), ["1", "3"])
      assert.deepStrictEqual(yield* ids({ connection_id: connection.id, limit: 1 }), ["1"])
    }), { seed })

  itInProcess("is good for 60 seconds, and needs its signature", () =>
    Effect.gen(function*() {
      const link = yield* linkOf()
      const other = yield* linkOf({ format: "csv" })
      const signature = (url: string) => new URL(url).searchParams.get("signature")
      const forbidden = [
        link.replace(/\?.*/, ""),
        link.replace(/\?.*/, "?signature=x"),
        `${link}x`,
        link.replace(/signature=.*/, `signature=${signature(other)}`),
        link.replace("users.json.gz", "users.csv.gz"),
        link.replace("/exports/job_", "/exports/job_x")
      ]
      for (const url of forbidden) {
        const { bytes, headers, status } = yield* download(url)
        assert.deepStrictEqual([status, headers["content-type"]], [403, "application/xml"])
        assert.match(bytes.toString(), /^<\?xml .*\n<Error><Code>AccessDenied<\/Code>/)
      }
      yield* TestClock.setTime(2000 + 60_000 - 1)
      assert.strictEqual((yield* download(link)).status, 200)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* download(link)).status, 403)
    }))

  itInProcess("is compressed by itself, not on the way, and is served in ranges", () =>
    Effect.gen(function*() {
      const link = yield* linkOf()
      const whole = yield* download(link)
      const size = whole.bytes.length
      assert.deepInclude(whole.headers, { "content-type": "application/gzip", "accept-ranges": "bytes" })
      assert.isUndefined(whole.headers["content-encoding"])
      assert.strictEqual(whole.status, 200)
      for (
        const [range, from, to] of [
          ["bytes=10-", 10, size],
          ["bytes=0-0", 0, 1],
          ["bytes=10-19", 10, 20],
          [`bytes=10-${size + 5}`, 10, size],
          ["bytes=-7", size - 7, size],
          [`bytes=-${size + 1}`, 0, size]
        ] as const
      ) {
        const part = yield* download(link, { range })
        assert.deepStrictEqual(
          [part.status, part.headers["content-range"]],
          [206, `bytes ${from}-${to - 1}/${size}`]
        )
        assert.isTrue(part.bytes.equals(whole.bytes.subarray(from, to)), range)
      }
      for (const range of [`bytes=${size}-`, "bytes=-0"]) {
        const { headers, status } = yield* download(link, { range })
        assert.deepStrictEqual([status, headers["content-range"]], [416, `bytes */${size}`])
      }
      for (const range of ["bytes=9-3", "bytes=-", "bytes=0-1,4-5", "lines=1-2"]) {
        assert.strictEqual((yield* download(link, { range })).bytes.length, size)
      }
      const etag = String(whole.headers["etag"])
      assert.strictEqual((yield* download(link, { range: "bytes=1-", "if-range": etag })).status, 206)
      assert.strictEqual((yield* download(link, { range: "bytes=1-", "if-range": "\"other\"" })).status, 200)
    }))

  itInProcess("is read with GET only", () =>
    Effect.gen(function*() {
      const link = yield* linkOf()
      for (const method of ["HEAD", "PUT", "OPTIONS"] as const) {
        const { headers, status } = yield* download(link, {}, method)
        assert.deepStrictEqual([method, status, headers["allow"]], [method, 405, "GET"])
      }
      const { status } = yield* download(`${host}/exports/job_1`)
      assert.strictEqual(status, 404)
    }))

  itInProcess(
    "is served whatever token is sent, without a limit, and the log shows whether one was",
    () =>
      Effect.gen(function*() {
        const link = yield* linkOf()
        const { requests } = yield* Tenant.Tenant
        const before = (yield* requests).length
        const bare = yield* download(link)
        assert.isUndefined(bare.headers["x-ratelimit-limit"])
        assert.strictEqual((yield* download(link, { authorization: `Bearer ${yield* tokenOf()}` })).status, 200)
        assert.strictEqual((yield* download(link, { authorization: "nonsense" })).status, 200)
        const downloads = (yield* requests).slice(before).filter(({ operation }) => operation === "exportFile")
        assert.deepStrictEqual(
          downloads.map(({ headers, status }) => ["authorization" in headers, status]),
          [[false, 200], [true, 200], [true, 200]]
        )
        assert.deepStrictEqual(
          downloads.map(({ query }) => query.join()),
          downloads.map(() => "signature,<redacted>")
        )
      })
  )

  itInProcess("may have a fault", () =>
    Effect.gen(function*() {
      const link = yield* linkOf()
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "exportFile", status: 503 })
      assert.strictEqual((yield* download(link)).status, 503)
      yield* injectFault({ operation: "exportFile", cut: "within" })
      assert.strictEqual(reasonOf(yield* Effect.flip(download(link))), "Decode")
      assert.strictEqual((yield* download(link)).status, 200)
    }))

  itInProcess("is the same each time, also of users that are made one by one", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      let made = 0
      const makeUsers = Tenant.makeUsers(20_000)
      yield* seed({
        users: () => {
          made++
          return makeUsers()
        }
      })
      const link = yield* linkOf()
      const [one, other] = yield* Effect.all([download(link), download(link)], { concurrency: 2 })
      assert.isTrue(one.bytes.equals(other.bytes))
      const again = yield* download(link)
      assert.isTrue(again.bytes.equals(one.bytes))
      const lines = gunzipSync(one.bytes).toString().split("\n")
      assert.strictEqual(lines.length, 20_001)
      assert.include(JSON.parse(String(lines[19_999])), { name: "User 20000" })
      assert.isAtMost(made, 2)
      yield* seed({ users: [{ user_id: "only" }] })
      assert.deepStrictEqual(JSON.parse(gunzipSync((yield* download(link)).bytes).toString()), { user_id: "only" })
    }))

  itInProcess(
    "is another one, with another tag, as soon as the users or the fields of its job change",
    () =>
      Effect.gen(function*() {
        const { seed, state } = yield* Tenant.Tenant
        const link = yield* linkOf({ fields: [{ name: "user_id" }] })
        const first = yield* download(link)
        const tag = String(first.headers["etag"])
        const resume = download(link, { range: "bytes=1-", "if-range": tag })
        yield* seed({ users: [...users] })
        const same = yield* resume
        assert.deepStrictEqual([same.status, same.headers["etag"]], [206, tag])
        yield* seed({ users: [{ user_id: "4", name: "Bo" }] })
        const more = yield* resume
        assert.strictEqual(more.status, 200)
        assert.include(gunzipSync(more.bytes).toString(), "{\"user_id\":\"4\"}")
        yield* seed({ jobs: (yield* state).jobs.map((job) => ({ ...job, fields: [{ name: "name" }] })) })
        const other = yield* resume
        assert.strictEqual(other.status, 200)
        assert.include(gunzipSync(other.bytes).toString(), "{\"name\":\"Bo\"}")
        assert.strictEqual(new Set([first, more, other].map(({ headers }) => headers["etag"])).size, 3)
      }),
    { seed }
  )

  itInProcess("is made again if the tenant has kept other files since", () =>
    Effect.gen(function*() {
      const links: Array<string> = []
      for (const limit of [1, 2, 3, 4, 5, 6]) links.push(yield* linkOf({ limit }))
      for (const _ of [1, 2]) {
        for (const [index, link] of links.entries()) {
          assert.strictEqual((yield* textOf(link)).split("\n").length, index + 2)
        }
      }
    }), { buckets: largeBuckets })
})

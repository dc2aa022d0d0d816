/** Tests of `Errors.Failure`: what is written of a failure, and what another process reads. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Match, Redacted, Schema } from "effect"
import { Errors, Exports, Redelivery } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"

const details = { operation: "redeliverEvent", message: "redeliverEvent: No." }
const known = { ...details, errorCode: "no", requestId: "req_1", retryAfter: Duration.millis(1500) }
const secret = "Bearer of a secret"
const raw = Redacted.make(secret)

const quota: Errors.TokenQuota = { of: "client", bucket: "b", limit: 1, remaining: 0, resetAfter: Duration.zero }

/** An error that is read, what is written of it, and what it may have in addition. */
type Row = readonly [error: Jobs.Failure, fields: object, more?: Jobs.Failure]

/** Each failure of a call. */
const failures: ReadonlyArray<Row> = [
  ...[
    Errors.BadRequest,
    Errors.Unauthorized,
    Errors.Forbidden,
    Errors.PaymentRequired,
    Errors.NotFound,
    Errors.Conflict,
    Errors.Gone,
    Errors.PreconditionFailed,
    Errors.ContentTooLarge,
    Errors.InternalServerError,
    Errors.ServiceUnavailable
  ].map((Class) => [new Class(known), { ...known, retryAfter: 1500 }, new Class({ ...known, raw })] as const),
  [new Errors.NotFound(details), details],
  [
    new Errors.InsufficientScope({ ...details, required: ["read:users"] }),
    { ...details, required: ["read:users"] },
    new Errors.InsufficientScope({ ...details, required: ["read:users"], raw })
  ],
  [new Errors.RateLimited({ ...details, source: "limiter" }), { ...details, source: "limiter" }],
  [
    new Errors.RateLimited({ ...details, limit: 10, remaining: 0, resetAt: DateTime.unsafeMake(0) }),
    { ...details, source: "service", limit: 10, remaining: 0, resetAt: "1970-01-01T00:00:00.000Z" },
    new Errors.RateLimited({ ...details, limit: 10, remaining: 0, resetAt: DateTime.unsafeMake(0), raw })
  ],
  [
    new Errors.InvalidInput({ operation: "redeliverEvent", issues: [{ path: "id", message: "expected an id" }] }),
    {
      operation: "redeliverEvent",
      message: "redeliverEvent: id: expected an id",
      issues: [{ path: "id", message: "expected an id" }]
    }
  ],
  [new Errors.TokenError({ ...details, code: "ECONNREFUSED" }), { ...details, code: "ECONNREFUSED" }],
  [
    new Errors.TokenError({ ...details, status: 429, error: "e", description: "d", retryAfter: Duration.seconds(1) }),
    { ...details, status: 429, error: "e", description: "d", retryAfter: 1000 },
    new Errors.TokenError({
      ...details,
      status: 429,
      error: "e",
      description: "d",
      retryAfter: Duration.seconds(1),
      quotas: [quota]
    })
  ],
  [
    new Errors.TransportError({ ...details, outcome: "unknown", code: "ECONNRESET" }),
    { ...details, outcome: "unknown", code: "ECONNRESET" }
  ],
  [
    new Errors.UnexpectedResponse({ ...known, status: 201, reason: "schema", path: "id", shape: "s", outcome: "done" }),
    { ...known, retryAfter: 1500, status: 201, reason: "schema", path: "id", shape: "s", outcome: "done" },
    new Errors.UnexpectedResponse({
      ...known,
      status: 201,
      reason: "schema",
      path: "id",
      shape: "s",
      outcome: "done",
      raw,
      value: Redacted.make(secret)
    })
  ],
  [
    new Errors.UnexpectedResponse({ ...details, status: 502, reason: "html", contentType: "text/html", shape: "s" }),
    { ...details, status: 502, reason: "html", contentType: "text/html", shape: "s" }
  ]
]

const notFound = new Errors.NotFound(details)

/** What else may end a job. */
const others: ReadonlyArray<Row> = [
  [new Exports.ExportError({ reason: "exists", message: "No." }), { reason: "exists", message: "No." }],
  [
    new Exports.ExportError({ reason: "status", message: "No.", job: "job_1", status: 503, code: "ECONNRESET" }),
    { reason: "status", message: "No.", job: "job_1", status: 503, code: "ECONNRESET" }
  ],
  [new Redelivery.JournalError({ reason: "foreign", message: "No." }), { reason: "foreign", message: "No." }],
  [
    new Redelivery.RunError({ reason: "streamNotFound", message: "No.", error: notFound }),
    { reason: "streamNotFound", message: "No.", error: { tag: "NotFound", ...details } }
  ]
]

const encode = Schema.encodeSync(Schema.parseJson(Jobs.Failure))
const decode = Schema.decodeSync(Schema.parseJson(Jobs.Failure))

describe("a failure that is written down", () => {
  for (const [error, fields, more = error] of [...failures, ...others]) {
    it(`is read as the same error: ${error._tag} with ${Object.keys(fields).join(", ")}`, () => {
      const text = encode(more)
      assert.deepStrictEqual(JSON.parse(text), { tag: error._tag, ...fields })
      const read = decode(text)
      assert.deepStrictEqual({ ...read }, { ...error })
      assert.deepStrictEqual([read.message, encode(read)], [error.message, text])
      assert.instanceOf(read, Object(error).constructor)
      assert.deepStrictEqual([Errors.outcome(read), Errors.concerns(read)], [
        Errors.outcome(more),
        Errors.concerns(more)
      ])
    })
  }

  it("of a call needs no schema of jobs, which leaves it as it is", () => {
    for (const [error] of failures) {
      const call = Schema.decodeUnknownSync(Errors.Failure)(JSON.parse(encode(error)))
      assert.deepStrictEqual(JSON.stringify(Schema.encodeSync(Errors.Failure)(call)), encode(error))
      assert.strictEqual(call._tag, error._tag)
    }
  })

  it("has no body, quota, header or cause", () => {
    for (const [, , more] of failures) if (more !== undefined) assert.notMatch(encode(more), /secret|quota|redacted/i)
    const odd = Object.assign(new Errors.NotFound(known), { cause: secret, headers: { authorization: secret } })
    assert.notInclude(encode(odd), secret)
  })

  it.each<readonly [string, { readonly tag: string; readonly [name: string]: string }]>([
    ["before it had fields", { tag: "NotFound", message: "No." }],
    ["by a later version, as a tag that is new", { tag: "Moved", message: "No.", to: "/" }],
    ["by a later version, with other fields", {
      tag: "TransportError",
      message: "No.",
      outcome: "half",
      operation: "o"
    }],
    ["of a program's own", { tag: "NoTenant", message: "No." }],
    ["before runs had fields", { tag: "RunError", message: "No." }]
  ])("%s has its tag and its message", (_, written) => {
    const read = decode(JSON.stringify(written))
    const { tag } = written
    assert.deepStrictEqual<object>({ ...read, message: read.message }, { _tag: "OtherError", tag, message: "No." })
    assert.deepStrictEqual(JSON.parse(encode(read)), { tag, message: "No." })
  })

  it("is written in any case, with its tag and its message", () => {
    class Teapot extends Errors.statusError("Teapot", 418) {}
    const odd = { _tag: "NotFound", message: "No.", requestId: "req_1" }
    for (
      const [error, tag] of [[new Teapot({ operation: "o", message: "No." }), "Teapot"], [odd, "NotFound"]] as const
    ) {
      assert.deepStrictEqual(JSON.parse(encode(error as never)), { tag, message: error.message }) // sound: as mocks may
    }
  })

  it.effect("is matched by its tag", () =>
    Effect.gen(function*() {
      const read = decode(encode(new Errors.RateLimited(known)))
      const say = Match.type<Jobs.Failure>().pipe(
        Match.tag("RateLimited", ({ retryAfter }) => retryAfter),
        Match.orElse(() => undefined)
      )
      assert.deepStrictEqual(say(read), Duration.millis(1500))
      const caught = Effect.fail(read).pipe(
        Effect.catchTag("RateLimited", ({ requestId }) => Effect.succeed(requestId))
      )
      assert.strictEqual(yield* caught, "req_1")
    }))
})

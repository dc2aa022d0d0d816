/** The error classes: their fields, how they print, and what they never print. */
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Layer, Logger, Redacted, Schema } from "effect"
import { inspect } from "node:util"
import {
  Actions,
  createUsersExport,
  deleteEventStream,
  Errors,
  IdentityClient,
  Operation,
  RateLimiter,
  redeliverEvent,
  updateTokenExchangeProfile
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, bearer, call, failed, over, token } from "../support/client.js"
import { effectMajor } from "../support/effectMajor.js"
import type { Subject } from "../support/operations.js"
import * as Permits from "../support/permits.js"

const id = "est_1234567890123456789012"
const failure: Errors.ErrorDetails = { operation: "deleteEventStream", message: "A reason." }

const statusClasses = [
  [Errors.BadRequest, 400, "BadRequest"],
  [Errors.Unauthorized, 401, "Unauthorized"],
  [Errors.Forbidden, 403, "Forbidden"],
  [Errors.NotFound, 404, "NotFound"],
  [Errors.Conflict, 409, "Conflict"],
  [Errors.RateLimited, 429, "RateLimited"],
  [Errors.statusError("Gone", 410), 410, "Gone"]
] as const

describe("an error class for a status", () => {
  it.each(statusClasses.map(([ErrorClass, status, tag]) => [status, ErrorClass, tag] as const))(
    "%i is an error with its tag and status",
    (status, ErrorClass, tag) => {
      const error = new ErrorClass(failure)
      assert.instanceOf(error, Error)
      assert.deepStrictEqual(
        [error.status, ErrorClass.status, error._tag, error.name, error.message, error.operation],
        [status, status, tag, tag, "deleteEventStream: A reason.", "deleteEventStream"]
      )
      assert.match(String(error), new RegExp(`^${error._tag}: deleteEventStream: A reason\\.`))
    }
  )

  it("is wrapped by `Effect.runPromise` on Effect 3, and not on Effect 4", async () => {
    const error = await Effect.runPromise(Effect.fail(new Errors.NotFound(failure))).catch((error: unknown) => error)
    assert.strictEqual(error instanceof Errors.NotFound, effectMajor > 3)
    assert.match(String(error), /NotFound: deleteEventStream: A reason\./)
  })

  it.each(statusClasses.map(([ErrorClass, status]) => [status, ErrorClass] as const))(
    "%i has the given fields, and no field that is undefined",
    (_, ErrorClass) => {
      const bare = new ErrorClass(failure)
      const full = new ErrorClass({
        ...failure,
        errorCode: "a_code",
        requestId: "request-1",
        retryAfter: Duration.seconds(7),
        raw: Redacted.make("body")
      })
      assert.deepStrictEqual([full.errorCode, full.requestId, full.raw && Redacted.value(full.raw)], [
        "a_code",
        "request-1",
        "body"
      ])
      assert.strictEqual(full.retryAfter && Duration.toMillis(full.retryAfter), 7000)
      assert.deepStrictEqual(Object.entries(bare).filter(([, value]) => value === undefined), [])
    }
  )

  it("InsufficientScope has the scopes that would be enough", () => {
    const error = new Errors.InsufficientScope({ ...failure, required: ["read:users"] })
    assert.deepInclude(error, { _tag: "InsufficientScope", name: "InsufficientScope", status: 403 })
    assert.deepStrictEqual(error.required, ["read:users"])
  })

  it.effect("can be yielded and caught by its tag", () =>
    Effect.gen(function*() {
      const conflict = new Errors.Conflict(failure)
      const caught = yield* Effect.catchTag(conflict, "Conflict", ({ status }) => Effect.succeed(status))
      assert.strictEqual(caught, 409)
    }))

  it("RateLimited has the source service by default", () => {
    assert.deepStrictEqual(
      [
        new Errors.RateLimited(failure).source,
        new Errors.RateLimited({ ...failure, source: "limiter", remaining: 0 }).source
      ],
      ["service", "limiter"]
    )
  })
})

describe("InvalidInput", () => {
  it("has all issues in its message", () => {
    const { message } = new Errors.InvalidInput({
      operation: "x",
      issues: [{ path: "a", message: "is missing" }, { path: "", message: "expected an object" }, {
        path: "b[0].c",
        message: "is wrong"
      }]
    })
    assert.strictEqual(message, "x: a: is missing; expected an object; b[0].c: is wrong")
  })
})

describe("the body of a failure", () => {
  it.effect("prints as <redacted> everywhere", () =>
    Effect.gen(function*() {
      const body = { message: "A reason.", email: "someone.private@example.com" }
      const error = yield* failed(deleteEventStream, { id }, Testing.reply({ status: 400, body }))
      assert.include(JSON.stringify(error), "\"raw\":\"<redacted>\"")
      assert.include(inspect(error), "<redacted>")
      assert.notInclude(Cause.pretty(Cause.fail(error)), "private")
    }))

  it.effect("is available as raw", () =>
    Effect.gen(function*() {
      const error = (yield* failed(
        deleteEventStream,
        { id },
        Testing.reply({ status: 400, body: "the body" })
      )) as Errors.BadRequest
      assert.strictEqual(error.raw && Redacted.value(error.raw), "the body")
    }))
})

describe("the message of a failure", () => {
  const message = (text: string, operation: Subject = deleteEventStream, input: unknown = { id }) =>
    Effect.map(
      failed(operation, input, Testing.reply({ status: 400, body: { message: text } })),
      (error) => (error as Errors.BadRequest).message.replace(/^\w+: /, "")
    )

  it.effect("of 500 characters is not cut", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message("m".repeat(500)), "m".repeat(500))
    }))

  it.effect("of more than 500 characters is cut and ends with an ellipsis", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message("m".repeat(501)), `${"m".repeat(499)}…`)
    }))

  it.effect("is not cut within a character", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message(`${"m".repeat(498)}🙂🙂`), `${"m".repeat(498)}…`)
      assert.strictEqual(yield* message(`\uD800${"m".repeat(497)}🙂🙂`), `\uD800${"m".repeat(497)}…`)
    }))

  it.effect("is cut after redaction, so that no part of a secret is left", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message(`${"m".repeat(480)}${token}`), `${"m".repeat(480)}…`)
    }))

  const name = "a \"name\" with ümlauts/100%"

  it.effect.each([
    ["plain", name],
    ["percent-encoded", encodeURIComponent(name)],
    ["escaped as in JSON", JSON.stringify(name).slice(1, -1)]
  ])("does not repeat a string of the input, %s", ([, spelling]) =>
    Effect.gen(function*() {
      const text = yield* message(`no ${spelling} here, ${spelling}!`, updateTokenExchangeProfile, {
        id: "x".repeat(9),
        name
      })
      assert.strictEqual(text, "no … here, …!")
    }))

  it.effect("does not repeat nested strings of the input", () =>
    Effect.gen(function*() {
      const fields = [{ name: "app_metadata.secret_plan", export_as: "The Plan" }]
      const text = yield* message("no app_metadata.secret_plan as The Plan", createUsersExport, { fields })
      assert.strictEqual(text, "no … as …")
    }))

  it.effect("does not repeat strings of an input with values of all kinds", () =>
    Effect.gen(function*() {
      const note = Operation.make("note", () => ({
        method: "POST",
        path: "/notes",
        payload: { text: Schema.optional(Schema.String), more: Schema.Unknown },
        scope: "create:notes",
        idempotent: false,
        error: [Errors.BadRequest, Errors.RateLimited]
      }))
      const more = [null, 7, true, { secret: "The Plan" }]
      assert.strictEqual(yield* message("no The Plan", note, { text: undefined, more }), "no …")
      const half = { text: "half \uD800 of it", more }
      assert.strictEqual(yield* message("no half%20%EF%BF%BD%20of%20it", note, half), "no …")
    }))

  it.effect("does not repeat a string that contains another one", () =>
    Effect.gen(function*() {
      const fields = [{ name: "plan" }, { name: "planet" }]
      assert.strictEqual(yield* message("planet, plan", createUsersExport, { fields }), "…, …")
    }))

  it.effect("is not changed by an empty string in the input", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* message("as it is", createUsersExport, { fields: [{ name: "" }] }), "as it is")
    }))

  it.effect("does not repeat the token, nor any JSON Web Token", () =>
    Effect.gen(function*() {
      const other = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJvdGhlciJ9"
      assert.strictEqual(yield* message(`${token} or ${other}, ${other}. or ${other}.c2ln-X_`), "… or …, … or …")
    }))

  it.effect("may contain a lone surrogate", () =>
    Effect.gen(function*() {
      const profile = { id: "x".repeat(9), name: "A name" }
      assert.strictEqual(yield* message("half \uD800 of it", updateTokenExchangeProfile, profile), "half \uD800 of it")
    }))
})

describe("errorCode, requestId, content type and path", () => {
  it.effect("do not repeat a string of the input or the token", () =>
    Effect.gen(function*() {
      const fields = [{ name: "secret_plan" }]
      const error = yield* failed(
        createUsersExport,
        { fields },
        Testing.reply({
          headers: { "content-type": `text/secret_plan; a=${token}`, "x-request-id": "for-secret_plan" },
          body: JSON.stringify({
            id: "1",
            type: "t",
            status: "s",
            fields: [{ name: "a", secret_plan: 1, export_as: 7 }],
            errorCode: "secret_plan"
          })
        })
      )
      const { contentType, errorCode, requestId } = error as Errors.UnexpectedResponse
      assert.deepStrictEqual([contentType, errorCode, requestId], ["text/…; a=…", "…", "for-…"])
    }))

  it.effect("the required scopes of InsufficientScope are no strings of the input", () =>
    Effect.gen(function*() {
      const body = { message: "Insufficient scope for update:secret_plan", errorCode: "insufficient_scope" }
      const error = yield* failed(
        updateTokenExchangeProfile,
        { id: "x".repeat(9), subject_token_type: "update:secret_plan" },
        Testing.reply({ status: 403, body })
      )
      assert.deepStrictEqual((error as Errors.InsufficientScope).required, ["update:token_exchange_profiles"])
    }))
})

describe("a failure of the limiter", () => {
  it.effect("fails the call with its RateLimited, and nothing is sent", () =>
    Effect.gen(function*() {
      const limiter = Layer.succeed(
        RateLimiter.RateLimiter,
        Permits.limiterOf(({ operation }) =>
          Effect.fail(new Errors.RateLimited({ operation, message: "Enough.", source: "limiter" }))
        )
      )
      const client = IdentityClient.layer({ baseUrl }).pipe(
        Layer.provide([limiter, bearer]),
        Layer.provideMerge(Testing.layerHttp())
      )
      const [error, requests] = yield* Effect.flip(redeliverEvent({ id, event_id: id })).pipe(
        Effect.zip(Testing.requests),
        Effect.provide(client)
      )
      assert.deepInclude(error, { _tag: "RateLimited", source: "limiter", operation: "redeliverEvent" })
      assert.lengthOf(requests, 0)
    }))
})

describe("a defect of the network", () => {
  it.effect("stays a defect", () =>
    Effect.gen(function*() {
      const network = Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.dieMessage("a bug")))
      const cause = yield* Effect.flip(Effect.sandbox(call(deleteEventStream, { id }))).pipe(
        Effect.provide(over(network))
      )
      assert.isTrue(Cause.isDie(cause))
    }))
})

describe("a failure that nobody handles", () => {
  const reply = Testing.reply({ status: 409, body: { message: "not in a state that allows redelivery" } })
  const line = "Conflict: redeliverEvent: not in a state that allows redelivery"
  const redelivery = call(redeliverEvent, { id, event_id: id }).pipe(Effect.provide(over(Testing.layerHttp(reply))))

  it.effect("prints as its name, operation and message, with a tracer or without", () =>
    Effect.gen(function*() {
      for (const failing of [redelivery, Effect.withSpan(redelivery, "nightly")]) {
        const cause = yield* Effect.flip(Effect.sandbox(failing))
        assert.strictEqual(Cause.pretty(cause).split("\n")[0], line)
      }
    }))

  it.effect("says which operation it was in a log line", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.logfmtLogger, (text) => void lines.push(text))
      yield* Effect.catchAllCause(redelivery, (cause) => Effect.logError("no luck", cause)).pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger))
      )
      assert.include(lines.join("\n"), `"${line}`)
    }))

  it("says which operation it was where a promise is rejected", async () => {
    const rejected = await Effect.runPromise(redelivery as Effect.Effect<unknown>).catch((error: unknown) => error) // sound: its failure is expected
    assert.include(String(rejected), line)
  })

  it("names the operation once, also if it is made of another", () => {
    const error = new Errors.Conflict(new Errors.Conflict(failure))
    assert.strictEqual(error.message, "deleteEventStream: A reason.")
  })

  it("has the stack that the runtime made, whatever its class", () => {
    const others = [
      new Errors.InvalidInput({ operation: "deleteEventStream", issues: [{ path: "id", message: "is missing" }] }),
      new Errors.TokenError({ operation: "deleteEventStream", message: "A reason." }),
      new Errors.TransportError({ operation: "deleteEventStream", message: "A reason.", outcome: "unknown" }),
      new Errors.UnexpectedResponse({ ...failure, status: 500, reason: "status", shape: "none" }),
      new Actions.VersionNotFound({ actionId: "act_1", number: 3 }),
      new Actions.DeploymentFailed({ actionId: "act_1", reason: "failed", version: { number: 3 }, details: [] })
    ]
    for (const error of [...statusClasses.map(([ErrorClass]) => new ErrorClass(failure)), ...others]) {
      const [first, ...lines] = (error.stack ?? "").split("\n")
      assert.strictEqual(first, `${error._tag}: ${error.message}`)
      assert.isTrue(lines.some((line) => line.includes("errors.test.ts")), error._tag)
    }
  })
})

/** Errors of platforms: their code, and if the service may have acted. */
import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { deleteEventStream, Errors } from "../../src/index.js"
import { codeOf } from "../../src/internal/http/platformErrors.js"
import { call, over, token } from "../support/client.js"
import { requestError, responseError } from "../support/httpErrors.js"

const id = "est_1234567890123456789012"

describe("a request without a response", () => {
  /** A client whose requests all fail in this way. */
  const failing = (cause: unknown, reason: Parameters<typeof requestError>[1] = "Transport") =>
    Layer.succeed(
      HttpClient.HttpClient,
      HttpClient.make((request) => Effect.fail(requestError(request, reason, { cause, description: `about ${token}` })))
    )
  const outcome = (cause: unknown, reason?: Parameters<typeof requestError>[1]) =>
    Effect.map(
      Effect.flip(call(deleteEventStream, { id })).pipe(Effect.provide(over(failing(cause, reason)))),
      (error) => {
        assert.instanceOf(error, Errors.TransportError)
        const { code, message, outcome } = error as Errors.TransportError
        return { code, message, outcome }
      }
    )
  const system = (code: string, more: object = {}) => Object.assign(new Error(`about ${token}`), { code, ...more })

  it.effect.each([
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "UND_ERR_CONNECT_TIMEOUT",
    "CERT_HAS_EXPIRED",
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE",
    "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
    "ERR_SSL_UNSUPPORTED_PROTOCOL",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
  ])("%s is `not-sent`", (code) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* outcome(new TypeError("fetch failed", { cause: system(code) })), {
        code,
        outcome: "not-sent",
        message: `deleteEventStream: tenant.example.com could not be reached (${code})`
      })
    }))

  it.effect.each([
    "ECONNRESET",
    "EPIPE",
    "ETIMEDOUT",
    "UND_ERR_SOCKET",
    "UND_ERR_HEADERS_TIMEOUT",
    "ABORT_ERR",
    "ECONNREFUSED_NOT"
  ])(
    "%s is `unknown`",
    (code) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(system(code)), {
          code,
          outcome: "unknown",
          message: `deleteEventStream: tenant.example.com did not respond (${code})`
        })
      })
  )

  it.effect.each([
    "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC",
    "ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC",
    "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR"
  ])("%s may come after the handshake, so it is `unknown`", (code) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* outcome(system(code))).outcome, "unknown")
    }))

  it.effect.each(["connect", "getaddrinfo"])("any failure in %s is `not-sent`", (syscall) =>
    Effect.gen(function*() {
      const { code, outcome: found } = yield* outcome(new Error("x", { cause: system("ETIMEDOUT", { syscall }) }))
      assert.deepStrictEqual([code, found], ["ETIMEDOUT", "not-sent"])
    }))

  it.effect("a failure in reading or writing is `unknown`", () =>
    Effect.forEach(["read", "write"], (syscall) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* outcome(system("ECONNRESET", { syscall }))).outcome, "unknown")
      })))

  it.effect.each(["Encode", "InvalidUrl"] as const)(
    "a request that fails as %s is `not-sent`",
    (reason) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(undefined, reason), {
          code: undefined,
          outcome: "not-sent",
          message: "deleteEventStream: tenant.example.com could not be reached"
        })
      })
  )

  it.effect("the innermost code is reported", () =>
    Effect.gen(function*() {
      const { code } = yield* outcome(Object.assign(new Error("x", { cause: system("ECONNRESET") }), { code: "OUTER" }))
      assert.strictEqual(code, "ECONNRESET")
    }))

  it.effect.each([undefined, null, "text", 7, {}, { code: 7 }, { code: `about ${token}` }, { code: "" }, {
    cause: "x"
  }])(
    "%#: a cause without a code is `unknown`, and nothing of it is in the error",
    (cause) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome(cause), {
          code: undefined,
          outcome: "unknown",
          message: "deleteEventStream: tenant.example.com did not respond"
        })
      })
  )

  it("the code of the first address is reported if several were tried", () => {
    const tried = new AggregateError([system("ECONNREFUSED", { syscall: "connect" }), system("ETIMEDOUT")])
    assert.strictEqual(codeOf(new TypeError("fetch failed", { cause: tried })), "ECONNREFUSED")
    assert.isUndefined(codeOf({ errors: undefined }))
    const nested = (levels: number): object => levels === 0 ? { code: "EDEEP" } : { cause: nested(levels - 1) }
    assert.deepStrictEqual([codeOf(nested(7)), codeOf(nested(8))], ["EDEEP", undefined])
  })

  it.effect("an error that is its own cause is read", () =>
    Effect.gen(function*() {
      const cause = system("ECONNRESET")
      cause.cause = cause
      assert.strictEqual((yield* outcome(cause)).code, "ECONNRESET")
    }))

  it.effect("the error of a response is `unknown`, whatever its code", () =>
    Effect.gen(function*() {
      const network = Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request) =>
          Effect.fail(responseError(request, "StatusCode", { cause: system("ECONNREFUSED") }))
        )
      )
      const error = yield* Effect.flip(call(deleteEventStream, { id })).pipe(Effect.provide(over(network)))
      assert.deepInclude(error, { _tag: "TransportError", outcome: "unknown" })
    }))
})

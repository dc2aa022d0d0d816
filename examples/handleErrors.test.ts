/** Tests `handleErrors.ts`, and shows what each failure has to say. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schedule, TestClock } from "effect"
import {
  createUsersExport,
  Errors,
  IdentityClient,
  RateLimiter,
  redeliverEvent,
  Retry,
  TokenProvider
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import * as Testing from "effect-identity-client/Testing"
import { redeliver } from "./handleErrors.js"

const { streams: [stream] } = Tenant.demo

const clientAbove = (...replies: ReadonlyArray<Testing.Reply>) =>
  IdentityClient.layer({ domain: "tenant.example.com" }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

const failure = (statusCode: number, message: string, errorCode?: string) =>
  Testing.reply({ status: statusCode, body: { statusCode, message, errorCode } })

const cases: ReadonlyArray<readonly [string, Testing.Reply]> = [
  ["accepted", Testing.reply({ status: 202, body: {} })],
  ["gone", failure(404, "The requested stream does not exist.")],
  ["not in a failed state", failure(409, "The event is not in a state that allows redelivery.")],
  [
    "grant update:event_deliveries",
    failure(403, "Insufficient scope, expected any of: update:event_deliveries", "insufficient_scope")
  ],
  ["perhaps accepted: look before you retry", Testing.noReply("ECONNRESET")],
  ["not sent: retry later", Testing.noReply("ECONNREFUSED")]
]

describe("a redelivery", () => {
  for (const [outcome, reply] of cases) {
    it.effect(`is ${outcome}`, () =>
      redeliver(stream.id, stream.events[0].id).pipe(
        Retry.withoutRetries,
        Effect.map((actual) => assert.strictEqual(actual, outcome)),
        Effect.provide(clientAbove(reply))
      ))
  }
})

// Calls again, for an hour, while the failure may pass and the call was definitely not carried out.
const patiently = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.retry(call, {
    schedule: Schedule.spaced("1 minute"),
    times: 60,
    while: (error) => Errors.isTransient(error) && Errors.outcome(error) === "not-done"
  })

// Its test.
describe("a call that is made again patiently", () => {
  const accepted = Testing.reply({ status: 202, body: {} })
  const rows: ReadonlyArray<readonly [title: string, reply: Testing.Reply, requests: number]> = [
    ["not sent: again", Testing.noReply("ECONNREFUSED"), 2],
    ["refused for now: again", failure(429, "Global limit has been reached"), 2],
    ["perhaps carried out: once", Testing.noReply("ECONNRESET"), 1],
    ["refused for good: once", failure(400, "No such event"), 1]
  ]
  for (const [title, reply, requests] of rows) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const call = redeliverEvent({ id: stream.id, event_id: stream.events[0].id })
        const fiber = yield* Effect.fork(Effect.exit(patiently(Retry.withoutRetries(call))))
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(fiber)
        assert.lengthOf(yield* Testing.requests, requests)
      }).pipe(Effect.provide(clientAbove(reply, accepted))))
  }
})

// One line for a log: what failed, and what to search for in the service's log. For any failure of any operation.
const describeFailure = (error: { readonly _tag: string; readonly message: string }) => {
  const fields: Readonly<Record<string, unknown>> = { ...error }
  const details = ["status", "reason", "outcome", "code", "errorCode", "requestId"].flatMap((name) =>
    fields[name] === undefined ? [] : [`${name} ${String(fields[name])}`]
  )
  return [`${error._tag}: ${error.message}`, ...details].join(", ")
}

// Its test.
describe("a failure in one line", () => {
  const lines: ReadonlyArray<readonly [string, Testing.Reply]> = [
    [
      "BadRequest: createUsersExport: No such connection, status 400, errorCode invalid_body",
      failure(400, "No such connection", "invalid_body")
    ],
    [
      "RateLimited: createUsersExport: Global limit has been reached, status 429",
      Testing.reply({
        status: 429,
        body: { statusCode: 429, message: "Global limit has been reached" }
      })
    ],
    [
      "TransportError: createUsersExport: tenant.example.com did not respond (ECONNRESET), outcome unknown, code ECONNRESET",
      Testing.noReply("ECONNRESET")
    ]
  ]
  for (const [line, reply] of lines) {
    it.effect(line, () =>
      createUsersExport({}).pipe(
        Retry.withoutRetries,
        Effect.flip,
        Effect.map((error) => assert.strictEqual(describeFailure(error), line)),
        Effect.provide(clientAbove(reply))
      ))
  }
})

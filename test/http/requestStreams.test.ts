/** Tests of request bodies that are streams: how they fail, and how they end with the request. */
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream, TestClock } from "effect"
import * as Exchange from "../../src/internal/http/exchange.js"
import * as Timeouts from "../../src/internal/runtime/timeouts.js"
import { requestError } from "../support/httpErrors.js"

/** Sends a stream, with a time-out of 5 ms, over a client that treats the streams that it gets in this way. */
const sendOver = (body: Stream.Stream<Uint8Array, unknown>, use: (sent: typeof body) => Effect.Effect<void, unknown>) =>
  Effect.flatMap(Timeouts.make, (timeouts) => {
    const client = HttpClient.make((request) =>
      (request.body._tag === "Stream" ? use(request.body.stream) : Effect.die("no stream")).pipe(
        Effect.mapError((cause) => requestError(request, "Transport", { cause })),
        Effect.as(HttpClientResponse.fromWeb(request, new Response(null, { status: 204 })))
      )
    )
    const request = HttpClientRequest.put("https://t.example.com/", { body: HttpBody.stream(body) })
    return Effect.uninterruptible(
      Exchange.make(client, 10)(request, () => 10, { timeouts, millis: 5 })
    )
  })

const piece = Stream.make(Uint8Array.of(1))
const failing: Stream.Stream<Uint8Array, string> = Stream.fail("a hidden reason")

describe("a request body that is a stream", () => {
  it.scoped.each<readonly [string, Stream.Stream<Uint8Array, string>, "not-sent" | "unknown"]>([
    ["fails before its first piece", failing, "not-sent"],
    ["has a defect before its first piece", Stream.die("a hidden reason"), "not-sent"],
    ["fails after its first piece", Stream.concat(piece, failing), "unknown"]
  ])("that %s gives a failure of its own: %#", ([, body, outcome]) =>
    Effect.gen(function*() {
      const { _tag, code, outcome: found } = yield* Effect.flip(sendOver(body, Stream.runDrain))
      assert.deepStrictEqual({ _tag, code, outcome: found }, { _tag: "NoResponse", code: "REQUEST_BODY", outcome })
    }))

  it.scoped("that is sent whole is not the cause of what the network does", () =>
    Effect.gen(function*() {
      const broken = Effect.fail({ code: "ECONNRESET" })
      const { code, outcome } = yield* Effect.flip(
        sendOver(piece, (sent) => Effect.zipRight(Effect.orDie(Stream.runDrain(sent)), broken))
      )
      assert.deepStrictEqual({ code, outcome }, { code: "ECONNRESET", outcome: "unknown" })
    }))

  it.scoped("fails when its request times out, though the client still reads it", () =>
    Effect.gen(function*() {
      const end = yield* Deferred.make<unknown>()
      const reading = (sent: Stream.Stream<Uint8Array, unknown>) =>
        Effect.zipRight(
          Effect.forkDaemon(
            Effect.flatMap(Effect.flip(Stream.runDrain(sent)), (error) => Deferred.succeed(end, error))
          ),
          Effect.never
        )
      const call = yield* Effect.fork(Effect.flip(sendOver(Stream.concat(piece, Stream.never), reading)))
      yield* TestClock.adjust("5 millis")
      const { code, outcome } = yield* Fiber.join(call)
      assert.deepStrictEqual({ code, outcome }, { code: "TIMEOUT", outcome: "unknown" })
      assert.strictEqual(yield* Deferred.await(end), "ended")
    }))
})

/** The spans of calls and their attempts: made only if a tracer is set, without any content of the input. */
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, Layer, Option, Redacted, TestClock, Tracer } from "effect"
import { deleteEventStream, IdentityClient, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { bearer, silent } from "../support/client.js"
import { effectMajor } from "../support/effectMajor.js"
import { recorded } from "../support/telemetry.js"

const call = Retry.withoutRetries(deleteEventStream({ id: "est_1234567890123456789012" }))

const client = (status: number, tokens = bearer) =>
  IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2" }).pipe(
    Layer.provide([Testing.layerHttp(Testing.reply({ status })), RateLimiter.layerUnlimited, tokens])
  )

const tokensOf = (get: TokenProvider.TokenProvider["Type"]["get"]) =>
  Layer.succeed(TokenProvider.TokenProvider, { get, invalidate: () => Effect.void })

describe("a call", () => {
  it.effect("has a span with its route and its status", () =>
    Effect.gen(function*() {
      const [span] = yield* recorded(Effect.provide(call, client(204)))
      assert.strictEqual(span?.name, "identity.deleteEventStream")
      assert.strictEqual(span?.kind, "internal")
      assert.deepStrictEqual(Object.fromEntries(span?.attributes ?? []), {
        "http.request.method": "DELETE",
        "url.template": "/api/v2/event-streams/{id}",
        "server.address": "t.example.com",
        "server.port": 443,
        "identity.attempts": 1,
        "http.response.status_code": 204
      })
      assert.strictEqual(span?.status._tag, "Ended")
    }))

  it.effect("has a child span for each attempt, and none of the platform's", () =>
    Effect.gen(function*() {
      const [call_, attempt, ...others] = yield* recorded(Effect.provide(call, client(204)))
      assert.isEmpty(others)
      assert.strictEqual(attempt?.name, "DELETE /api/v2/event-streams/{id}")
      assert.strictEqual(attempt?.kind, "client")
      assert.strictEqual(Option.getOrUndefined(attempt?.parent ?? Option.none()), call_)
    }))

  it.effect("has neither its value nor its error in its spans", () =>
    Effect.gen(function*() {
      for (const status of [204, 403]) {
        for (const span of yield* recorded(Effect.provide(call, client(status)))) {
          const exit = span.status._tag === "Ended" ? span.status.exit : Exit.die("the span is open")
          if (status === 204) assert.deepStrictEqual(exit, Exit.void)
          else assert.match(String(Exit.isFailure(exit) && Cause.squash(exit.cause)), /failed with (403|Forbidden)/)
        }
      }
    }))

  it.effect("that is interrupted has spans that end as interrupted", () =>
    Effect.gen(function*() {
      const silentClient = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2" }).pipe(
        Layer.provide([silent, RateLimiter.layerUnlimited, bearer])
      )
      const spans = yield* recorded(
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(call)
          yield* TestClock.adjust(10)
          yield* Fiber.interrupt(fiber)
        }).pipe(Effect.provide(silentClient))
      )
      assert.lengthOf(spans, 2)
      for (const { attributes, status } of spans) {
        assert.strictEqual(attributes.get("error.type"), "Interrupted")
        const exit = status._tag === "Ended" ? status.exit : Exit.void
        assert.isTrue(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause))
      }
    }))

  it.effect("has spans with start and end times, unless the timing of spans is disabled", () =>
    Effect.gen(function*() {
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2" }).pipe(
        Layer.provide([silent, RateLimiter.layerUnlimited, bearer])
      )
      const times = (isTimed: boolean) =>
        recorded(
          Effect.gen(function*() {
            const fiber = yield* Effect.fork(IdentityClient.withTimeout(call, "3 seconds"))
            yield* TestClock.adjust("3 seconds")
            yield* Fiber.await(fiber)
          }).pipe(Effect.withTracerTiming(isTimed), Effect.provide(layer))
        ).pipe(
          Effect.map((spans) =>
            spans.map(({ status }) => status._tag === "Ended" ? [status.startTime, status.endTime] : [])
          )
        )
      // The test clock starts at 0.
      assert.deepStrictEqual(yield* times(true), [[0n, 3_000_000_000n], [0n, 3_000_000_000n]])
      assert.deepStrictEqual(yield* times(false), [[0n, 0n], [0n, 0n]])
    }))

  it.effect("that fails has a failed span with status and type", () =>
    Effect.gen(function*() {
      const [span] = yield* recorded(Effect.provide(call, client(403)))
      assert.strictEqual(span?.attributes.get("http.response.status_code"), 403)
      assert.strictEqual(span?.attributes.get("error.type"), "Forbidden")
      assert.strictEqual(span?.status._tag === "Ended" && span.status.exit._tag, "Failure")
    }))

  for (
    const [name, respond, ofCall, ofAttempt] of [
      ["299", () => new Response("{}", { status: 299 }), [299, undefined], [299, undefined]],
      ["300", () => new Response("{}", { status: 300 }), [300, "UnexpectedResponse"], [300, "300"]],
      ["an opaque redirect", () => Response.error(), [undefined, "UnexpectedResponse"], [
        undefined,
        "redirect"
      ]],
      [
        "an interrupted body",
        () => new Response(new ReadableStream({ pull: (body) => body.error(new Error("gone")) })),
        [200, undefined],
        [200, "incomplete"]
      ]
    ] as const
  ) {
    it.effect(`has the status and the type of failure of its response, in the call and in the attempt: ${name}`, () =>
      Effect.gen(function*() {
        const network = HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, respond())))
        const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
          Layer.provide([Layer.succeed(HttpClient.HttpClient, network), RateLimiter.layerUnlimited, bearer])
        )
        const spans = yield* recorded(Effect.provide(call, layer))
        assert.deepStrictEqual(
          spans.map(({ attributes }) =>
            ["url.template", "http.response.status_code", "error.type"].map((name) => attributes.get(name))
          ),
          [ofCall, ofAttempt].map((outcome) => ["/event-streams/{id}", ...outcome])
        )
      }))
  }

  for (
    const [baseUrl, address, port] of [
      ["http://t.example.com", "t.example.com", 80],
      ["https://t.example.com", "t.example.com", 443],
      ["https://[2001:db8::1]:8443", "2001:db8::1", 8443]
    ] as const
  ) {
    it.effect(`has the address and the port of its server: ${baseUrl}`, () =>
      Effect.gen(function*() {
        const layer = IdentityClient.layer({ baseUrl, allowInsecure: true }).pipe(
          Layer.provide([Testing.layerHttp(Testing.reply({ status: 204 })), RateLimiter.layerUnlimited, bearer])
        )
        const spans = yield* recorded(Effect.provide(call, layer))
        assert.deepStrictEqual(
          spans.map(({ attributes }) => [attributes.get("server.address"), attributes.get("server.port")]),
          [[address, port], [address, port]]
        )
      }))
  }

  it.effect("that dies has the error type of a defect", () =>
    Effect.gen(function*() {
      const dying = Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.dieMessage("boom")))
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([dying, RateLimiter.layerUnlimited, bearer])
      )
      const spans = yield* recorded(Effect.provide(call, layer))
      assert.deepStrictEqual(spans.map(({ attributes }) => attributes.get("error.type")), ["Defect", "Defect"])
    }))

  it.effect("propagates its trace if it is made in a span, even without a tracer", () =>
    Effect.gen(function*() {
      yield* Effect.withSpan(call, "program")
      const [request] = yield* Testing.requests
      assert.match(request?.headers["traceparent"] ?? "", /^00-/)
    }).pipe(Effect.provide(
      IdentityClient.layer({ baseUrl: "https://t.example.com", propagateTrace: true }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, bearer]),
        Layer.provideMerge(Testing.layerHttp(Testing.reply({ status: 204 })))
      )
    )))

  it.effect.skipIf(effectMajor > 3)(
    "is named in the trace of its failure, without a place in the library",
    () =>
      Effect.gen(function*() {
        let traced = ""
        const noted = Effect.tapErrorCause(call, (cause) => Effect.sync(() => void (traced = Cause.pretty(cause))))
        yield* recorded(Effect.provide(noted, client(403)))
        assert.match(traced, /at identity\.deleteEventStream$/m)
      })
  )

  it.effect("has the error type _OTHER if its token request fails with a value without a tag", () =>
    Effect.gen(function*() {
      const nameless = TokenProvider.layerEffect(Effect.fail({} as never)) // sound: untyped code may fail with it
      const spans = yield* recorded(Effect.provide(call, client(204, nameless)))
      const tokenSpan = spans.find(({ name }) => name === "identity.token")
      assert.strictEqual(tokenSpan?.attributes.get("error.type"), "_OTHER")
    }))

  it.effect("has events for its waits, with their length in seconds", () =>
    Effect.gen(function*() {
      const replies = [Testing.reply({ status: 429, headers: { "retry-after": "3" } }), Testing.reply({ status: 204 })]
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([Testing.layerHttp(...replies), RateLimiter.layerUnlimited, bearer])
      )
      const [span] = yield* recorded(
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(deleteEventStream({ id: "est_1234567890123456789012" }))
          yield* TestClock.adjust("3 seconds")
          yield* Fiber.join(fiber)
        }).pipe(Effect.provide(layer))
      )
      // Sound: the recording tracer makes spans of Effect itself, which keep their events.
      const { events } = span as Tracer.Span & { readonly events: ReadonlyArray<unknown> }
      assert.deepStrictEqual(events, [["identity.backoff", 0n, { "identity.wait": 3 }]])
    }))

  it.effect("has a span that is a child of the current one and the parent of all that the call does", () =>
    Effect.gen(function*() {
      const tokens = tokensOf(Effect.withSpan(Effect.succeed(Redacted.make("a-token")), "token"))
      const layer = client(204, tokens)
      const spans = yield* recorded(Effect.withSpan(Effect.provide(call, layer), "program"))
      const parents = spans.map(({ name, parent }) => [
        name,
        Option.getOrUndefined(Option.map(parent, (parent) => parent._tag === "Span" ? parent.name : "external"))
      ])
      assert.deepStrictEqual(parents, [
        ["program", undefined],
        ["identity.deleteEventStream", "program"],
        ["token", "identity.deleteEventStream"],
        ["DELETE /api/v2/event-streams/{id}", "identity.deleteEventStream"]
      ])
    }))

  it.effect("has the current span while its requests are sent, and restores the outer one afterwards", () =>
    Effect.gen(function*() {
      const seen: Array<string | undefined> = []
      const look = Effect.map(
        Effect.option(Effect.currentSpan),
        (span) => void seen.push(Option.getOrUndefined(span)?.name)
      )
      const http = HttpClient.make((request) =>
        Effect.as(
          look,
          HttpClientResponse.fromWeb(request, new Response(null, { status: seen.length > 1 ? 403 : 204 }))
        )
      )
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
        Layer.provide([Layer.succeed(HttpClient.HttpClient, http), RateLimiter.layerUnlimited, bearer])
      )
      const calls = call.pipe(Effect.zipRight(look), Effect.zipRight(Effect.exit(call)), Effect.zipRight(look))
      yield* recorded(Effect.withSpan(Effect.provide(calls, layer), "program"))
      const request = "DELETE /event-streams/{id}"
      assert.deepStrictEqual(seen, [request, "program", request, "program"])
    }))

  it.effect("restores the outer span even if the tracer throws at its end", () =>
    Effect.gen(function*() {
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        context: (run) => run(),
        span: (...of) => {
          const span = native.span(...of)
          span.end = () => {
            throw new Error("no more")
          }
          return span
        }
      })
      const exit = yield* Effect.exit(Effect.withTracer(Effect.provide(call, client(204)), tracer))
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.isTrue(Option.isNone(yield* Effect.option(Effect.currentSpan)))
    }))

  it.effect.skipIf(effectMajor > 3)(
    "gives each span its own attributes object, which a tracer may change",
    () =>
      Effect.gen(function*() {
        const native = yield* Effect.tracer
        const given: Array<unknown> = []
        const tracer = Tracer.make({
          context: (run) => run(),
          span: (...of) => {
            const { attributes = {} } = (of[6 as number] ?? {}) as Tracer.SpanOptions // its last argument
            given.push({ ...attributes })
            attributes["url.template"] = "theirs"
            return native.span(...of)
          }
        })
        const layer = IdentityClient.layer({ baseUrl: "https://t.example.com" }).pipe(
          Layer.provide([
            Testing.layerHttp(Testing.reply({ status: 204 }), Testing.reply({ status: 204 })),
            RateLimiter.layerUnlimited,
            bearer
          ])
        )
        yield* Effect.withTracer(Effect.provide(Effect.zipRight(call, call), layer), tracer)
        assert.lengthOf(given, 4)
        for (const attributes of given) assert.deepStrictEqual(attributes, given[0])
      })
  )

  it.effect("has the span annotations and links that are set around it", () =>
    Effect.gen(function*() {
      const linked = yield* Effect.makeSpan("linked")
      const spans = yield* recorded(
        Effect.provide(call, client(204)).pipe(
          Effect.annotateSpans({ team: "a", "http.request.method": "theirs" }),
          Effect.linkSpans(linked, { why: "b" })
        )
      )
      assert.lengthOf(spans, 2)
      for (const { attributes, links } of spans) {
        assert.strictEqual(attributes.get("team"), "a")
        assert.strictEqual(attributes.get("http.request.method"), "DELETE")
        assert.deepStrictEqual(links.map(({ attributes, span }) => [span, attributes]), [[linked, { why: "b" }]])
      }
    }))

  it.effect("has the nearest exported span as its parent", () =>
    Effect.gen(function*() {
      const hidden = Context.make(Tracer.DisablePropagation, true)
      const external = Tracer.externalSpan({ spanId: "1", traceId: "2", context: hidden })
      const made = Effect.provide(call, client(204))
      const [below] = yield* recorded(Effect.withParentSpan(made, external))
      assert.isTrue(below !== undefined && Option.isNone(below.parent))
      const spans = yield* recorded(
        made.pipe(Effect.withSpan("hidden", { context: hidden }), Effect.withSpan("program"))
      )
      assert.deepStrictEqual(spans.map(({ name }) => name), [
        "program",
        "identity.deleteEventStream",
        "DELETE /api/v2/event-streams/{id}"
      ])
      assert.isTrue(spans[1] !== undefined && Option.getOrUndefined(spans[1].parent) === spans[0])
    }))

  it.effect("requests a token in a root span that links to the call, wherever the layer was built", () =>
    Effect.gen(function*() {
      const issued = Effect.withSpan(Effect.succeed({ token: Redacted.make("a-token") }), "within")
      const layer = client(204, TokenProvider.layerEffect(issued))
      const spans = yield* recorded(Effect.withSpan(Effect.provide(call, layer), "program"))
      const named = (name: string) => spans.find((span) => span.name === name)
      const token = named("identity.token")
      const parentOf = (name: string) => Option.getOrUndefined(named(name)?.parent ?? Option.none())
      assert.isTrue(token !== undefined && Option.isNone(token.parent))
      assert.lengthOf(token?.links ?? [], 1)
      assert.strictEqual<unknown>(token?.links[0]?.span, named("identity.deleteEventStream"))
      assert.strictEqual<unknown>(parentOf("within"), token)
    }))

  it.effect("has no link from a token request that it did not cause", () =>
    Effect.gen(function*() {
      const tokens = TokenProvider.layerEffect(Effect.succeed({ token: Redacted.make("a-token") }))
      const asking = Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)
      const spans = yield* recorded(Effect.provide(asking, tokens))
      assert.deepStrictEqual(spans.map(({ links, name }) => [name, ...links]), [["identity.token"]])
    }))

  it.effect("has failed spans of token requests that time out", () =>
    Effect.gen(function*() {
      const tokens = Layer.orDie(TokenProvider.layerClientCredentials({
        domain: "t.example.com",
        clientId: "a-client",
        clientSecret: Redacted.make("a-secret")
      })).pipe(Layer.provide(silent))
      const spans = yield* recorded(
        Effect.gen(function*() {
          const fiber = yield* Effect.fork(call)
          yield* TestClock.adjust("1 minute")
          yield* Fiber.await(fiber)
        }).pipe(Effect.provide(client(204, tokens)))
      )
      const outcomes = spans.filter(({ name }) => name === "POST /oauth/token").map(({ attributes, status }) => [
        attributes.get("error.type"),
        status._tag === "Ended" && Exit.isFailure(status.exit) && Cause.isFailure(status.exit.cause)
      ])
      assert.deepStrictEqual(outcomes, [["TIMEOUT", true], ["TIMEOUT", true], ["TIMEOUT", true]])
      const tokenSpan = spans.find(({ name }) => name === "identity.token")
      assert.strictEqual(tokenSpan?.attributes.get("error.type"), "TokenError")
    }))

  it.effect("has no spans, none for its token and no traceparent if tracing is disabled", () =>
    Effect.gen(function*() {
      const grant = Testing.reply({ body: { access_token: "a-token", token_type: "Bearer" } })
      const network = Testing.layerHttp(grant, Testing.reply({ status: 204 }))
      const tokens = Layer.orDie(TokenProvider.layerClientCredentials({
        domain: "t.example.com",
        clientId: "a-client",
        clientSecret: Redacted.make("a-secret")
      }))
      const layer = IdentityClient.layer({ baseUrl: "https://t.example.com/api/v2", propagateTrace: true }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, tokens]),
        Layer.provideMerge(network)
      )
      yield* Effect.gen(function*() {
        const spans = yield* recorded(Effect.withSpan(Effect.withTracerEnabled(call, false), "program"))
        assert.deepStrictEqual(spans.map(({ name }) => name), ["program"])
        const requests = yield* Testing.requests
        assert.deepStrictEqual(requests.map(({ headers }) => headers["traceparent"]), [undefined, undefined])
      }).pipe(Effect.provide(layer))
    }))

  it.effect("has no span without a tracer", () =>
    Effect.gen(function*() {
      const seen: Array<Option.Option<unknown>> = []
      const tokens = tokensOf(Effect.flatMap(Effect.option(Effect.currentSpan), (span) => {
        seen.push(span)
        return Effect.succeed(Redacted.make("a-token"))
      }))
      yield* Effect.provide(call, client(204, tokens))
      assert.deepStrictEqual(seen.map(Option.isNone), [true])
    }))
})

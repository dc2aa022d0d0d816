/** What a call lets others see of itself: spans, metrics, notes in the log. While nobody looks it costs next to nothing. */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Tracer from "effect/Tracer"
import type { Any } from "../../Endpoint.js"
import { type TokenError, UnexpectedResponse } from "../../Errors.js"
import type * as Http from "../http/exchange.js"
import * as Headers from "../http/headers.js"
import * as Request from "../http/requestEncoder.js"
import * as Fiber from "../runtime/fiber.js"
import { memoizeByEndpoint } from "../runtime/memoizeByEndpoint.js"
import { DriftDetector } from "../schema/drift.js"
import * as Logs from "./logs.js"
import * as Metrics from "./metrics.js"
import * as Spans from "./spans.js"

/** A call that is held back for so long is worth a warning, in milliseconds. */
const patience = 5000

/** No warning is given of an operation again before so many milliseconds. */
const silence = 60_000

/** No wait, but the clock went on meanwhile, in milliseconds. */
const tick = 1

/** Of the limit there is little left below the first share, and enough again above the second. */
const [little, enough] = [0.2, 0.5]

/** What is kept of all calls of one operation. */
class Subject {
  readonly operation: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly metrics: Metrics.Metrics
  readonly drift: DriftDetector | undefined
  /** Before that no call warns of being held back, and none of a limit that is used up. */
  heldAgainAt = -Infinity
  shortAgainAt = -Infinity
  isShort = false

  constructor(tenant: string, { method, name, path, success }: Any) {
    this.operation = name
    this.attributes = Spans.attributes(tenant, method, path)
    const metrics = new Metrics.Metrics({
      "identity.operation": name,
      "server.address": String(this.attributes["server.address"])
    })
    this.metrics = metrics
    this.drift = success &&
      new DriftDetector(success, (path, value) => Metrics.update(metrics.drift(path, value), 1, []))
  }
}

/** One call, as it is seen from outside. */
export class CallTelemetry {
  private readonly subject: Subject
  private readonly clock: Clock.Clock
  private readonly labels: Metrics.Labels
  private readonly isTraced: boolean
  private readonly isDebugged: boolean
  private readonly propagate: boolean
  private readonly begunAt: number
  private attempts = 0
  private span: Tracer.Span | undefined
  /** What is to be written to the log with the next step. */
  private notes: Effect.Effect<void> | undefined

  constructor(subject: Subject, fiber: Fiber.AnyFiber, clock: Clock.Clock, propagate: boolean) {
    this.subject = subject
    this.clock = clock
    this.labels = Fiber.metricLabelsOf(fiber)
    this.isTraced = Spans.isTraced(fiber)
    this.isDebugged = Logs.isDebugged(fiber)
    this.propagate = propagate
    this.begunAt = clock.unsafeCurrentTimeMillis()
  }

  /**
   * Makes the call, and makes of its answer what it means, which must not repeat the strings of its input. To be run
   * uninterruptibly.
   */
  around<Answer extends Http.RawResponse, E, A, E2>(
    call: Effect.Effect<Answer, E>,
    input: unknown,
    interpret: (answer: Answer, strings: () => ReadonlyArray<string>) => Either.Either<A, E2>
  ): Effect.Effect<A, E | E2> {
    let status = 0
    const interpreted = Effect.matchCauseEffect(call, {
      onFailure: (cause): Effect.Effect<A, E | E2> => {
        this.ended(undefined, Spans.typeOf(cause, "_tag"))
        return this.withNotes(Effect.failCause(cause))
      },
      onSuccess: (answer) => {
        status = answer.status
        const strings = () => Request.strings(input)
        const result = interpret(answer, strings)
        this.interpreted(answer.status, result, strings)
        return this.withNotes(result)
      }
    })
    if (!this.isTraced) return interpreted
    const { attributes, operation } = this.subject
    return Spans.within(`identity.${operation}`, { attributes: { ...attributes } }, (span) => {
      this.span = span
      return interpreted
    }, (exit) => ({
      "identity.attempts": this.attempts,
      ...(status > 0 && { "http.response.status_code": status }),
      ...(Exit.isFailure(exit) && { "error.type": Spans.typeOf(exit.cause, "_tag") })
    }))
  }

  /** An attempt begins to wait for the limiter's leave, and waits no longer. */
  waits(): void {
    Metrics.adjust(this.subject.metrics.waiting, 1, this.labels)
  }

  waited(millis: number): void {
    const { metrics } = this.subject
    Metrics.adjust(metrics.waiting, -1, this.labels)
    Metrics.update(metrics.wait, millis / 1000, this.labels)
    if (millis <= tick) return
    this.event("identity.limiter.wait", millis)
    this.held(millis, `the limiter held it back for ${Logs.time(millis)}`)
  }

  /** Sends a request, once; `send` is given what lets the service continue the trace. */
  attempt<A extends Http.RawResponse, E>(
    send: (trace: Readonly<Record<string, string>> | undefined) => Effect.Effect<A, E>
  ): Effect.Effect<A, E> {
    const nth = ++this.attempts
    Metrics.update(this.subject.metrics.attempts, 1, this.labels)
    const sent = this.span === undefined
      ? Effect.suspend(() => send(undefined)) // it may throw
      : Spans.request(
        this.subject.attributes,
        nth,
        (span) => send(this.propagate ? Spans.headers(span) : undefined)
      )
    return this.withNotes(this.isDebugged ? this.debugged(sent) : sent)
  }

  /** The service has answered an attempt. */
  answered({ headers, status }: Http.RawResponse): void {
    const { metrics } = this.subject
    if (status === 429) Metrics.update(metrics.throttled, 1, this.labels)
    const { limit, remaining } = Headers.rateLimit(headers)
    if (remaining === undefined) return
    Metrics.update(metrics.remaining, remaining, this.labels)
    if (limit === undefined || limit <= 0) return
    const share = remaining / limit
    if (share > enough) this.subject.isShort = false
    if (share > little || this.subject.isShort) return
    const now = this.clock.unsafeCurrentTimeMillis()
    if (now < this.subject.shortAgainAt) return
    this.subject.isShort = true
    this.subject.shortAgainAt = now + silence
    this.note(Logs.warning, `80 % of the rate limit is used: ${remaining} of ${limit} calls are left`)
  }

  /** The token was refused, and there is another. */
  replays(): void {
    this.event("identity.replay")
    if (this.isDebugged) this.note(Logs.debug, "the token was refused; it is sent again with another")
  }

  /** It is sent again in so many milliseconds: gives the wait for that, which begins with what is to be written. */
  backsOff<A>(millis: number, wait: Effect.Effect<A>): Effect.Effect<A> {
    this.event("identity.backoff", millis)
    this.held(millis, `it is sent again in ${Logs.time(millis)}`)
    return this.withNotes(wait)
  }

  private interpreted(
    status: number,
    result: Either.Either<unknown, unknown>,
    strings: () => ReadonlyArray<string>
  ): void {
    if (Either.isRight(result)) {
      const now = this.ended(status, undefined)
      this.subject.drift?.inspect(result.right, now, strings)
      return
    }
    const error = result.left
    if (error instanceof UnexpectedResponse && error.reason !== "status" && error.reason !== "redirect") {
      Metrics.update(this.subject.metrics.undecodable(error.reason), 1, this.labels)
    }
    this.ended(status, Spans.typeOf(Cause.fail(error), "_tag"))
  }

  /** The call is over. Gives the time. */
  private ended(status: number | undefined, type: string | undefined): number {
    const now = this.clock.unsafeCurrentTimeMillis()
    const millis = now - this.begunAt
    Metrics.update(this.subject.metrics.duration(status, type), millis / 1000, this.labels)
    if (this.isDebugged && type !== undefined) this.note(Logs.debug, `${type} after ${Logs.time(millis)}`)
    return now
  }

  private debugged<A extends Http.RawResponse, E>(sent: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const sentAt = this.clock.unsafeCurrentTimeMillis()
    const told = (what: string) => {
      this.note(Logs.debug, `${what} in ${Logs.time(this.clock.unsafeCurrentTimeMillis() - sentAt)}`)
      return this.withNotes(Effect.void)
    }
    return sent.pipe(
      Effect.tap(({ status }) => told(`answered ${status}`)),
      Effect.tapErrorCause((cause) => told(`no answer (${Spans.typeOf(cause)})`))
    )
  }

  private event(name: string, millis?: number): void {
    if (this.span === undefined) return
    this.span.event(
      name,
      this.clock.unsafeCurrentTimeNanos(),
      millis === undefined ? {} : { "identity.wait": millis / 1000 }
    )
  }

  /** Makes a note of being held back: a warning if it is for long and there was none of late. */
  private held(millis: number, message: string): void {
    const now = this.clock.unsafeCurrentTimeMillis()
    if (millis >= patience && now >= this.subject.heldAgainAt) {
      this.subject.heldAgainAt = now + silence
      this.note(Logs.warning, message)
    } else if (this.isDebugged) this.note(Logs.debug, message)
  }

  private note(write: typeof Logs.debug, message: string): void {
    const note = write(message, { operation: this.subject.operation, attempt: this.attempts })
    this.notes = this.notes === undefined ? note : Effect.zipRight(this.notes, note)
  }

  private withNotes<A, E>(next: Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (this.notes === undefined) return next
    const { notes } = this
    this.notes = undefined
    return Effect.zipRight(notes, next)
  }
}

/** What watches the calls of a client; `propagate`: whether the service may continue their traces. */
export const make = (tenant: string, propagate: boolean) => {
  const subjectOf = memoizeByEndpoint((endpoint) => new Subject(tenant, endpoint))
  return (endpoint: Any, fiber: Fiber.AnyFiber, clock: Clock.Clock): CallTelemetry =>
    new CallTelemetry(subjectOf(endpoint), fiber, clock, propagate)
}

/**
 * Asks for a token in a span of its own, which is nobody's child because it serves many. It is seen where the call is seen that
 * started it, in `fiber`, and linked to it.
 */
export const tokenRequest = <A>(
  fiber: Fiber.AnyFiber,
  request: Effect.Effect<A, TokenError>
): Effect.Effect<A, TokenError> => {
  const labels = Fiber.metricLabelsOf(fiber)
  const counted = request.pipe(
    Effect.tap(Effect.sync(() => Metrics.update(Metrics.tokens(), 1, labels))),
    Effect.tapError((error) => {
      Metrics.update(Metrics.tokens(error._tag), 1, labels)
      const { code, status } = error
      const why = status === undefined ? code === undefined ? "" : ` (${code})` : ` (status ${status})`
      return Logs.warning(`no token could be had${why}`, { operation: "token" })
    })
  )
  const span = Fiber.spanOf(fiber)
  const links: ReadonlyArray<Tracer.SpanLink> = span === undefined ? [] : [{ _tag: "SpanLink", span, attributes: {} }]
  const seen = Spans.isTraced(fiber)
    ? Effect.uninterruptibleMask((restore) =>
      Spans.within(
        "identity.token",
        { root: true, links },
        () => restore(counted),
        (exit) => Exit.isFailure(exit) ? { "error.type": Spans.typeOf(exit.cause, "_tag") } : {}
      )
    )
    : counted
  return seen.pipe(Fiber.withTracingOf(fiber), Fiber.withLoggingOf(fiber))
}

/** Sends a request for a token, once, below the span of asking for it; `nth` counts from 1 on. */
export const tokenAttempt = <A extends Http.RawResponse, E>(
  url: string,
  nth: number,
  send: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Fiber.withFiber((fiber) =>
    Spans.isTraced(fiber)
      ? Effect.uninterruptibleMask((restore) =>
        Spans.request(Spans.attributes(url, "POST", ""), nth, () => restore(send))
      )
      : send
  )

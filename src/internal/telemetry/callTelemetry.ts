/** Spans, metrics and logs of calls. Without a tracer no spans are made, and above debug level no debug lines. */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type * as Tracer from "effect/Tracer"
import type { Any } from "../../Endpoint.js"
import { UnexpectedResponse } from "../../Errors.js"
import type { RawResponse } from "../http/rawExchange.js"
import * as ResponseHeaders from "../http/responseHeaders.js"
import type * as FiberAccess from "../runtime/fiber.js"
import { memoizeByEndpoint } from "../runtime/memoize.js"
import { monotonicMillis } from "../runtime/monotonicClock.js"
import { DriftDetector } from "../schema/drift.js"
import { CallLogs, formatMillis, makeQuotaWarnings } from "./logs.js"
import * as Metrics from "./metrics.js"
import * as Spans from "./spans.js"

/** Shorter waits, in milliseconds, are not reported: they are only time between two clock reads. */
const noWait = 1

/** Makes the state that all calls of one operation share. */
const makeShared = (
  tenant: string,
  { method, name, path, responses, success }: Any,
  quotaWarnings: ReturnType<typeof makeQuotaWarnings>,
  propagateTrace: boolean
) => {
  const attributes = Spans.attributes(tenant, method, path)
  const metrics = Metrics.forOperation(name, String(attributes["server.address"]))
  return {
    operation: name,
    attributes,
    metrics,
    quotaWarnings,
    propagateTrace,
    drift: success && new DriftDetector(success, (path, value) => {
      Metrics.update(metrics.drift(path, value), 1, Metrics.noLabels)
    }, responses === "lenient"),
    nextWaitWarningAt: -Infinity
  }
}

type Shared = ReturnType<typeof makeShared>

export class CallTelemetry {
  private readonly shared: Shared
  private readonly clock: Clock.Clock
  private readonly labels: Metrics.Labels
  private readonly isTraced: boolean
  private readonly logs: CallLogs
  private readonly startedAt: number
  private span: Tracer.Span | undefined

  constructor(shared: Shared, fiber: FiberAccess.AnyFiber, clock: Clock.Clock) {
    this.shared = shared
    this.clock = clock
    this.labels = Metrics.labelsOf(fiber)
    this.isTraced = Spans.isTraced(fiber)
    this.logs = new CallLogs(shared, fiber, clock)
    this.startedAt = monotonicMillis(clock)
  }

  /**
   * Makes the call in its span and interprets its last response. `strings` gives the strings of the call's input, which
   * telemetry must not repeat. Must run in an uninterruptible region.
   */
  run<Response extends RawResponse, E, A, E2>(
    call: Effect.Effect<Response, E>,
    interpret: (response: Response) => Either.Either<A, E2>,
    strings: () => ReadonlyArray<string>
  ): Effect.Effect<A, E | E2> {
    let status = 0
    const interpreted = Effect.matchCauseEffect(call, {
      onFailure: (cause): Effect.Effect<A, E | E2> => {
        this.ended(Exit.failCause(cause), undefined, strings)
        return this.logs.before(Effect.failCause(cause))
      },
      onSuccess: (response): Effect.Effect<A, E | E2> => {
        status = response.status
        const result = interpret(response)
        this.ended(Exit.fromEither(result), status, strings)
        // Unlike an exit, `Effect.fail` lets the trace of the failure name the span.
        return this.logs.before(Either.isRight(result) ? Effect.succeed(result.right) : Effect.fail(result.left))
      }
    })
    if (!this.isTraced) return interpreted
    const { attributes, operation } = this.shared
    return Spans.withSpan(`identity.${operation}`, { attributes: { ...attributes } }, (span) => {
      this.span = span
      return interpreted
    }, () => ({
      "identity.attempts": this.logs.attempt,
      ...(status > 0 && { "http.response.status_code": status })
    }))
  }

  waitStarted(): void {
    Metrics.add(this.shared.metrics.waiting, 1, this.labels)
  }

  waitEnded(millis: number): void {
    const { metrics } = this.shared
    Metrics.add(metrics.waiting, -1, this.labels)
    Metrics.update(metrics.wait, millis / 1000, this.labels)
    if (millis <= noWait) return
    this.spanEvent("identity.limiter.wait", millis)
    this.logs.debug(`the rate limiter delayed the call for ${formatMillis(millis)}`)
  }

  /**
   * Sends one request in a span of its own; `send` receives the headers that let the service continue the trace. Throws if
   * `send` does.
   */
  attempt<A extends RawResponse, E>(
    send: (traceHeaders: Readonly<Record<string, string>> | undefined) => Effect.Effect<A, E>
  ): Effect.Effect<A, E> {
    const nth = ++this.logs.attempt
    Metrics.update(this.shared.metrics.attempts, 1, this.labels)
    const sent = this.span === undefined
      ? send(undefined)
      : Spans.request(
        this.shared.attributes,
        nth,
        (span) => send(this.shared.propagateTrace ? Spans.traceHeaders(span) : undefined)
      )
    return this.logs.before(this.logs.withOutcome(sent))
  }

  responseReceived({ headers, status }: RawResponse): void {
    const { metrics } = this.shared
    if (status === 429) Metrics.update(metrics.throttled, 1, this.labels)
    const { limit, remaining } = ResponseHeaders.rateLimit(headers)
    if (remaining === undefined) return
    Metrics.update(metrics.remaining, remaining, this.labels)
    if (limit === undefined || limit <= 0) return
    Metrics.update(metrics.limit, limit, this.labels)
    this.logs.quota(remaining, limit)
  }

  /** The service refused the token, and the call is retried with a new one. */
  tokenReplaced(): void {
    this.spanEvent("identity.replay")
    this.logs.debug("the token was refused; retrying with a new one")
  }

  /** Gives the wait before a retry, with the log lines that precede it. */
  backoff<A, E>(millis: number, wait: Effect.Effect<A, E>): Effect.Effect<A, E> {
    this.spanEvent("identity.backoff", millis)
    this.logs.backoff(millis)
    return this.logs.before(wait)
  }

  /** A retry is not made, because the retry budget is used up. */
  retrySkipped(shouldWarn: boolean): void {
    Metrics.update(this.shared.metrics.skipped, 1, this.labels)
    if (shouldWarn) {
      this.logs.warn("the service is unavailable and the retry budget is used up: calls fail without a retry")
    } else this.logs.debug("skipped a retry: the service is still unavailable")
  }

  /** The circuit has refused an attempt. */
  refusedByCircuit(): void {
    Metrics.update(this.shared.metrics.refused, 1, this.labels)
  }

  /** The attempt has opened the circuit, after this number of failures in a row. */
  circuitOpened(failures: number): void {
    Metrics.add(this.shared.metrics.openCircuits, 1, Metrics.noLabels)
    this.logs.warn(`the circuit is open after ${failures} failures in a row: calls fail at once`)
  }

  /** The attempt has closed the circuit. */
  circuitClosed(): void {
    Metrics.add(this.shared.metrics.openCircuits, -1, Metrics.noLabels)
    this.logs.info("the circuit is closed: the service responds again")
  }

  private ended(
    exit: Exit.Exit<unknown, unknown>,
    status: number | undefined,
    strings: () => ReadonlyArray<string>
  ): void {
    const { drift, metrics } = this.shared
    const now = monotonicMillis(this.clock)
    const millis = now - this.startedAt
    const errorType = Exit.isFailure(exit) ? Spans.errorTag(exit.cause) : undefined
    Metrics.update(metrics.duration(status, errorType), millis / 1000, this.labels)
    if (Exit.isSuccess(exit)) drift?.inspect(exit.value, now, strings)
    else {
      const [error] = Cause.failures(exit.cause)
      if (error instanceof UnexpectedResponse && error.reason !== "status" && error.reason !== "redirect") {
        Metrics.update(metrics.undecodable(error.reason), 1, this.labels)
      }
      this.logs.debug(`failed with ${errorType} after ${formatMillis(millis)}`)
    }
  }

  private spanEvent(name: string, millis?: number): void {
    const attributes = millis === undefined ? {} : { "identity.wait": millis / 1000 }
    this.span?.event(name, this.clock.unsafeCurrentTimeNanos(), attributes)
  }
}

/** Makes the telemetry of a client. With `propagateTrace` the service can continue the traces of the calls. */
export const make = (tenant: string, propagateTrace: boolean) => {
  const quotaWarnings = makeQuotaWarnings()
  const sharedOf = memoizeByEndpoint((endpoint) => makeShared(tenant, endpoint, quotaWarnings, propagateTrace))
  return (endpoint: Any, fiber: FiberAccess.AnyFiber, clock: Clock.Clock): CallTelemetry =>
    new CallTelemetry(sharedOf(endpoint), fiber, clock)
}

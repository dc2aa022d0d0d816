/** Spans, metrics and logs of token requests. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Tracer from "effect/Tracer"
import type { TokenError, TokenQuota } from "../../Errors.js"
import { inParentheses, type RawResponse } from "../http/rawExchange.js"
import * as FiberAccess from "../runtime/fiber.js"
import * as Metrics from "./metrics.js"
import * as Spans from "./spans.js"

/** Logs a warning about token requests. */
export const warn = (message: string): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning(message), { operation: "token" })

/**
 * Traces, counts and logs a token request on behalf of the fiber that started it. Many callers share a token, so its span
 * is a root span that links to the span of that fiber.
 */
export const tokenRequest = <A>(
  fiber: FiberAccess.AnyFiber,
  request: Effect.Effect<A, TokenError>
): Effect.Effect<A, TokenError> => {
  const labels = Metrics.labelsOf(fiber)
  const counted = request.pipe(
    Effect.tap(Effect.sync(() => Metrics.update(Metrics.tokenRequests({}), 1, labels))),
    Effect.tapError(({ _tag, code, status }) => {
      Metrics.update(Metrics.tokenRequests({ "error.type": _tag }), 1, labels)
      const reason = inParentheses(status === undefined ? code : `status ${status}`)
      return warn(`could not obtain a token${reason}`)
    })
  )
  const span = FiberAccess.spanOf(fiber)
  const links: ReadonlyArray<Tracer.SpanLink> = span === undefined ? [] : [{ _tag: "SpanLink", span, attributes: {} }]
  const traced = Spans.isTraced(fiber)
    ? Effect.uninterruptibleMask((restore) =>
      Spans.withSpan("identity.token", { root: true, links }, () => restore(counted))
    )
    : counted
  return FiberAccess.withTelemetryOf(fiber, traced)
}

/** Traces one attempt of a token request; `nth` counts from 1. */
export const tokenAttempt = <A extends RawResponse, E>(
  url: string,
  nth: number,
  send: Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.uninterruptible(
    FiberAccess.withFiber((fiber) =>
      Spans.isTraced(fiber) ? Spans.request(Spans.attributes(url, "POST", ""), nth, () => send) : send
    )
  )

/** Sets the gauges of a client's token quotas, and warns of those that are `low`. */
export const tokenQuotas = (
  url: string,
  clientId: string,
  quotas: ReadonlyArray<TokenQuota>,
  low: ReadonlyArray<TokenQuota>
): Effect.Effect<void> =>
  quotas.length === 0 ? Effect.void : FiberAccess.withFiber((fiber) => {
    for (const { bucket, limit, of, remaining } of quotas) {
      const metrics = Metrics.forTokenQuota(new URL(url).hostname, clientId, of, bucket)
      Metrics.update(metrics.limit, limit, Metrics.labelsOf(fiber))
      Metrics.update(metrics.remaining, remaining, Metrics.labelsOf(fiber))
    }
    return Effect.forEach(low, ({ bucket, limit, of, remaining, resetAfter }) => {
      const rest = `${remaining} of ${limit} tokens left, full again in ${Duration.format(resetAfter)}`
      return warn(`the ${of}'s token quota ${bucket} is nearly used up: ${rest}`)
    }, { discard: true })
  })

/** Spans by OpenTelemetry's conventions, made only if a tracer is set. They contain no content of requests and responses. */
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import { isSuccess } from "../http/responseDecoder.js"
import * as FiberAccess from "../runtime/fiber.js"

/** The tracer of programs that set none; it drops its spans. */
const defaultTracer = Effect.runSync(Effect.tracer)

/** Checks that a fiber has a tracer, or a span of one. */
export const isTraced = (fiber: FiberAccess.AnyFiber): boolean =>
  (FiberAccess.tracerOf(fiber) !== defaultTracer || FiberAccess.spanOf(fiber) !== undefined) &&
  FiberAccess.isTracerEnabled(fiber)

type Attributes = Readonly<Record<string, unknown>>

/** Gives the attribute `server.address` of requests to a URL. */
export const serverAddress = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, "")

/** Gives the attributes that all requests to a route share. They contain no identifiers, queries or bodies. */
export const attributes = (baseUrl: string, method: string, path: string): Attributes => {
  const { pathname, port, protocol } = new URL(baseUrl)
  return {
    "http.request.method": method,
    "url.template": `${pathname === "/" ? "" : pathname}${path.replace(/(?<=\/):([^/]+)/g, "{$1}")}`,
    "server.address": serverAddress(baseUrl),
    "server.port": port !== "" ? Number(port) : protocol === "https:" ? 443 : 80
  }
}

/** The failure in a span: only its type, as the message contains text of the service. */
class SpanFailure extends Data.Error<{ readonly name: string; readonly message: string }> {}

const setContext = (context: Context.Context<never>) => FiberAccess.updateContext(() => context)

/**
 * Runs an effect in a new span, which is a child of the fiber's current span unless it is a root. `endAttributes` gives the
 * attributes to add when it ends; `error.type` is the tag of its failure unless they contain it. Must run in a region
 * that is uninterruptible except for its waits: only there the span can be set without the mask of `Effect.withParentSpan`.
 */
export const withSpan = <A, E>(
  name: string,
  options: Tracer.SpanOptions,
  use: (span: Tracer.Span) => Effect.Effect<A, E>,
  endAttributes: (exit: Exit.Exit<A, E>) => Attributes = () => ({})
): Effect.Effect<A, E> =>
  FiberAccess.withFiber((fiber) => {
    const outerContext = FiberAccess.contextOf(fiber)
    const end = (span: Tracer.Span, exit: Exit.Exit<A, E>): Effect.Effect<A, E> => {
      const error = Exit.isFailure(exit) ? { "error.type": errorTag(exit.cause) } : {}
      const attributes: Attributes = { ...error, ...endAttributes(exit) }
      for (const name in attributes) span.attribute(name, attributes[name])
      const type = attributes["error.type"]
      const isInterrupted = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
      const failure = () => new SpanFailure({ name: String(type), message: `failed with ${String(type)}` })
      span.end(
        FiberAccess.spanTimeOf(fiber),
        type === undefined || isInterrupted ? Exit.asVoid(exit) : Exit.fail(failure())
      )
      return exit
    }
    return Effect.flatMap(Effect.makeSpan(name, { ...options, captureStackTrace: false }), (span) => {
      // Restores the context first, as the tracer may throw.
      const leave = (exit: Exit.Exit<A, E>) => Effect.flatMap(setContext(outerContext), () => end(span, exit))
      return Effect.matchCauseEffect(
        Effect.flatMap(setContext(Context.add(outerContext, Tracer.ParentSpan, span)), () => use(span)),
        {
          onFailure: (cause) => leave(Exit.failCause(cause)),
          onSuccess: (value) => leave(Exit.succeed(value))
        }
      )
    })
  })

/** Traces one request by OpenTelemetry's conventions for HTTP clients; `nth` counts the requests of a call from 1. */
export const request = <A extends { readonly status: number; readonly completeness: string }, E>(
  attributes: Attributes,
  nth: number,
  send: (span: Tracer.Span) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  withSpan(
    `${String(attributes["http.request.method"])} ${String(attributes["url.template"])}`,
    { kind: "client", attributes: { ...attributes, ...(nth > 1 && { "http.request.resend_count": nth - 1 }) } },
    send,
    (exit) => {
      if (Exit.isFailure(exit)) return { "error.type": errorCodeOrTag(exit.cause) }
      const { completeness, status } = exit.value
      const type = !isSuccess(status)
        ? status === 0 ? "redirect" : String(status)
        : completeness === "interrupted"
        ? "incomplete"
        : undefined
      return {
        ...(status > 0 && { "http.response.status_code": status }),
        ...(type !== undefined && { "error.type": type })
      }
    }
  )

/** Gives the header that lets a server continue a trace. */
export const traceHeaders = (span: Tracer.Span): Readonly<Record<string, string>> => {
  const { traceparent = "" } = HttpTraceContext.toHeaders(span)
  return { traceparent }
}

const errorFields = (cause: Cause.Cause<unknown>): { readonly _tag?: unknown; readonly code?: unknown } => {
  const [error] = Cause.failures(cause)
  return Predicate.isReadonlyRecord(error) ? error : { _tag: Cause.isInterrupted(cause) ? "Interrupted" : "Defect" }
}

const asType = (value: unknown): string => typeof value === "string" ? value : "_OTHER"

/** Gives the `error.type` of a call: the tag of its failure. */
export const errorTag = (cause: Cause.Cause<unknown>): string => asType(errorFields(cause)._tag)

/** Gives the `error.type` of a request: the code of its failure, for example `ECONNRESET`, or else its tag. */
export const errorCodeOrTag = (cause: Cause.Cause<unknown>): string => {
  const { _tag, code } = errorFields(cause)
  return asType(code ?? _tag)
}

/** Spans by OpenTelemetry's conventions, made only if a tracer is set. They contain no content of requests and responses. */
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import * as Fiber from "../runtime/fiber.js"

/** The tracer of programs that set none; it drops its spans. */
const defaultTracer = Effect.runSync(Effect.tracer)

/** Tests if a fiber has a tracer, or a span of one. */
export const isTraced = (fiber: Fiber.AnyFiber): boolean =>
  (Fiber.tracerOf(fiber) !== defaultTracer || Fiber.spanOf(fiber) !== undefined) && Fiber.isTracerEnabled(fiber)

type Attributes = Readonly<Record<string, unknown>>

/** Gives the attributes that all requests to a route share. They contain no identifiers, queries or bodies. */
export const attributes = (baseUrl: string, method: string, path: string): Attributes => {
  const { hostname, pathname, port, protocol } = new URL(baseUrl)
  return {
    "http.request.method": method,
    "url.template": `${pathname === "/" ? "" : pathname}${path.replace(/(?<=\/):([^/]+)/g, "{$1}")}`,
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": port !== "" ? Number(port) : protocol === "https:" ? 443 : 80
  }
}

/** The failure in a span: only its type, as the message contains text of the service. */
class SpanFailure extends Data.Error<{ readonly name: string; readonly message: string }> {}

/** Gives the attributes to add when a span ends, with `error.type` if it failed. */
type EndAttributes<A, E> = (exit: Exit.Exit<A, E>) => Attributes

const endSpan = <A, E>(
  span: Tracer.Span,
  now: bigint,
  exit: Exit.Exit<A, E>,
  endAttributes: EndAttributes<A, E>
): void => {
  const attributes = endAttributes(exit)
  for (const name in attributes) span.attribute(name, attributes[name])
  const type = attributes["error.type"]
  const isInterrupted = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
  span.end(
    now,
    type === undefined || isInterrupted
      ? Exit.asVoid(exit)
      : Exit.fail(new SpanFailure({ name: String(type), message: `failed with ${String(type)}` }))
  )
}

/** Finds the nearest span that is exported, the given one included. */
const exportedParent = (span: Tracer.AnySpan): Option.Option<Tracer.AnySpan> =>
  !Context.get(span.context, Tracer.DisablePropagation)
    ? Option.some(span)
    : span._tag === "Span"
    ? Option.flatMap(span.parent, exportedParent)
    : Option.none()

type SpanOptions = Pick<Tracer.SpanOptions, "attributes" | "kind" | "links" | "root">

/** Begins a span as `Effect.makeSpan` does, but does not copy all settings of the fiber. */
const beginSpan = (fiber: Fiber.AnyFiber, name: string, options: SpanOptions) => {
  const { attributes = {}, kind = "internal", links = [], root = false } = options
  const settings = Fiber.spanSettingsOf(fiber)
  const clock = Fiber.clockOf(fiber)
  const now = () => settings.isTimed ? clock.unsafeCurrentTimeNanos() : 0n
  const span = Fiber.tracerOf(fiber).span(
    name,
    root ? Option.none() : Option.flatMap(Option.fromNullable(Fiber.spanOf(fiber)), exportedParent),
    Context.empty(),
    settings.links.concat(links),
    now(),
    kind,
    options
  )
  HashMap.forEach(settings.annotations, (value, name) => span.attribute(name, value))
  for (const name in attributes) span.attribute(name, attributes[name])
  return { span, now }
}

const setContext = (context: Context.Context<never>) => Fiber.updateContext(() => context)

/**
 * Runs an effect in a new span, which is a child of the fiber's current span unless it is a root. Must run in a region
 * that is uninterruptible except for its waits: only there the span can be set without the mask of `Effect.withParentSpan`.
 */
export const withSpan = <A, E>(
  name: string,
  options: SpanOptions,
  use: (span: Tracer.Span) => Effect.Effect<A, E>,
  endAttributes: EndAttributes<A, E>
): Effect.Effect<A, E> =>
  Fiber.withFiber((fiber) => {
    const outerContext = Fiber.contextOf(fiber)
    const { now, span } = beginSpan(fiber, name, options)
    // Restores the context first, as the tracer may throw.
    const leave = (exit: Exit.Exit<A, E>) =>
      Effect.flatMap(setContext(outerContext), () => {
        endSpan(span, now(), exit, endAttributes)
        return exit
      })
    return Effect.matchCauseEffect(
      Effect.flatMap(setContext(Context.add(outerContext, Tracer.ParentSpan, span)), () => use(span)),
      {
        onFailure: (cause) => leave(Exit.failCause(cause)),
        onSuccess: (value) => leave(Exit.succeed(value))
      }
    )
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
      const type = status < 200 || status > 299
        ? status === 0 ? "redirect" : String(status)
        : completeness === "interrupted"
        ? "broken"
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

/** Spans for whoever looks at spans; for nobody none is made. They tell how calls went, and nothing of what is in them. */
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

/** The tracer of those who have set none; its spans go nowhere. */
const nobody = Effect.runSync(Effect.tracer)

/** Whether somebody looks at what a fiber does. */
export const isTraced = (fiber: Fiber.AnyFiber): boolean =>
  (Fiber.tracerOf(fiber) !== nobody || Fiber.spanOf(fiber) !== undefined) && Fiber.isTracerEnabled(fiber)

type Attributes = Readonly<Record<string, unknown>>

/** What is known of requests before they are made, by OpenTelemetry's names: neither identifiers nor queries nor bodies. */
export const attributes = (base: string, method: string, template: string): Attributes => {
  const { hostname, pathname, port, protocol } = new URL(base)
  return {
    "http.request.method": method,
    "url.template": `${pathname === "/" ? "" : pathname}${template.replace(/(?<=\/):([^/]+)/g, "{$1}")}`,
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": port !== "" ? Number(port) : protocol === "https:" ? 443 : 80
  }
}

/** What a span tells of a failure: its type alone, for its message holds words of the service. */
class Failed extends Data.Error<{ readonly name: string; readonly message: string }> {}

/** How what a span stands for came out: what to add to it, among it `error.type` if it failed. */
export type Outcome<A, E> = (exit: Exit.Exit<A, E>) => Attributes

/** Ends a span. */
const end = <A, E>(span: Tracer.Span, now: bigint, exit: Exit.Exit<A, E>, outcome: Outcome<A, E>): void => {
  const attributes = outcome(exit)
  for (const name in attributes) span.attribute(name, attributes[name])
  const type = attributes["error.type"]
  const isInterrupted = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
  const told = type === undefined || isInterrupted
    ? Exit.asVoid(exit)
    : Exit.fail(new Failed({ name: String(type), message: `failed with ${String(type)}` }))
  span.end(now, told)
}

/** The span itself or, if it is not to be propagated, the nearest above it that is. */
const propagated = (span: Tracer.AnySpan): Option.Option<Tracer.AnySpan> =>
  !Context.get(span.context, Tracer.DisablePropagation)
    ? Option.some(span)
    : span._tag === "Span"
    ? Option.flatMap(span.parent, propagated)
    : Option.none()

type Options = Pick<Tracer.SpanOptions, "attributes" | "kind" | "links" | "root">

/** Begins a span in a fiber that is traced, as `Effect.makeSpan` does, which copies all that the fiber holds. */
const begin = (fiber: Fiber.AnyFiber, name: string, options: Options) => {
  const { attributes = {}, kind = "internal", links = [], root = false } = options
  const settings = Fiber.spanSettingsOf(fiber)
  const clock = Fiber.clockOf(fiber)
  const now = () => settings.isTimed ? clock.unsafeCurrentTimeNanos() : 0n
  const span = Fiber.tracerOf(fiber).span(
    name,
    root ? Option.none() : Option.flatMap(Option.fromNullable(Fiber.spanOf(fiber)), propagated),
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

/** Changes what a fiber sees as its context. */
const see = (context: Context.Context<never>) => Fiber.updateContext(() => context)

/**
 * Runs an effect in a span, below that which its fiber is in unless it is a root. To be run where nobody can interrupt it but
 * where it waits: so the span is put there and taken back without a mask, which `Effect.withParentSpan` needs.
 */
export const within = <A, E>(
  name: string,
  options: Options,
  use: (span: Tracer.Span) => Effect.Effect<A, E>,
  outcome: Outcome<A, E>
): Effect.Effect<A, E> =>
  Fiber.withFiber((fiber) => {
    const outside = Fiber.contextOf(fiber)
    const { now, span } = begin(fiber, name, options)
    // First of all it is taken back: the tracer may throw.
    const leave = (exit: Exit.Exit<A, E>) =>
      Effect.flatMap(see(outside), () => {
        end(span, now(), exit, outcome)
        return exit
      })
    return Effect.matchCauseEffect(
      Effect.flatMap(see(Context.add(outside, Tracer.ParentSpan, span)), () => use(span)),
      {
        onFailure: (cause) => leave(Exit.failCause(cause)),
        onSuccess: (value) => leave(Exit.succeed(value))
      }
    )
  })

/** One request, by OpenTelemetry's conventions for HTTP clients; `nth` counts those of a call, from 1 on. */
export const request = <A extends { readonly status: number; readonly completeness: string }, E>(
  attributes: Attributes,
  nth: number,
  send: (span: Tracer.Span) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  within(
    `${String(attributes["http.request.method"])} ${String(attributes["url.template"])}`,
    { kind: "client", attributes: { ...attributes, ...(nth > 1 && { "http.request.resend_count": nth - 1 }) } },
    send,
    (exit) => {
      if (Exit.isFailure(exit)) return { "error.type": typeOf(exit.cause) }
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

/** The header that lets a server continue a trace. */
export const headers = (span: Tracer.Span): Readonly<Record<string, string>> => {
  const { traceparent = "" } = HttpTraceContext.toHeaders(span)
  return { traceparent }
}

/** A word for a failure: its code, else its tag. */
export const typeOf = (cause: Cause.Cause<unknown>, name: "code" | "_tag" = "code"): string => {
  const [error] = Cause.failures(cause)
  if (!Predicate.isObject(error)) return Cause.isInterrupted(cause) ? "Interrupted" : "Defect"
  const members = error as { readonly _tag?: unknown; readonly code?: unknown } // sound: whatever they are
  const word = (name === "code" ? members.code : undefined) ?? members._tag
  return typeof word === "string" ? word : "_OTHER"
}

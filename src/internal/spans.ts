/** A span for each call, for whoever looks at spans; for nobody none is made. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import type * as Tracer from "effect/Tracer"
import type { Any } from "../Endpoint.js"
import { perOperation } from "./perOperation.js"

/** The tracer of those who have set none; its spans go nowhere. */
const nobody = Effect.runSync(Effect.tracer)

type Attributes = Readonly<Record<string, unknown>>

/**
 * What is known of the calls of a tenant before they are made, by OpenTelemetry's names. Identifiers, queries and bodies are
 * not among it.
 */
export const attributes = (tenant: string): (endpoint: Any) => Attributes => {
  const { hostname, pathname, port, protocol } = new URL(tenant)
  return perOperation(({ method, path }) => ({
    "http.request.method": method,
    "url.template": `${pathname === "/" ? "" : pathname}${path.replace(/(?<=\/):([^/]+)/g, "{$1}")}`,
    "server.address": hostname.replace(/^\[|\]$/g, ""),
    "server.port": port !== "" ? Number(port) : protocol === "https:" ? 443 : 80
  }))
}

const typeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" ? error._tag : "_OTHER"

/** Runs a call in a span of its own, below that which its fiber is in. Failed, the span says with which tag. */
export const around = <A, E, R>(
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  name: string,
  attributes: () => Attributes,
  call: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  fiber.currentTracer === nobody && fiber.currentSpan === undefined ? call(undefined) : Effect.useSpan(
    `identity.${name}`,
    { kind: "client", captureStackTrace: false, attributes: attributes() },
    (span) =>
      Effect.catchAllCause(Effect.withParentSpan(call(span), span), (cause) => {
        for (const error of Cause.failures(cause)) span.attribute("error.type", typeOf(error))
        return Effect.failCause(cause)
      })
  )

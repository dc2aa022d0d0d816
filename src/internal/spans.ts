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

/** What is known of a call before it is made, by OpenTelemetry's names. Identifiers, queries and bodies are not among it. */
const attributesOf = perOperation(({ method, path }) => ({
  "http.request.method": method,
  "url.template": path.replace(/:(\w+)/g, "{$1}")
}))

const typeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" ? error._tag : "_OTHER"

/** Runs a call in a span of its own, below that which its fiber is in. Failed, the span says with which tag. */
export const around = <A, E, R>(
  fiber: Fiber.RuntimeFiber<unknown, unknown>,
  endpoint: Any,
  host: string,
  call: (span: Tracer.Span | undefined) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  fiber.currentTracer === nobody && fiber.currentSpan === undefined ? call(undefined) : Effect.useSpan(
    `identity.${endpoint.name}`,
    {
      kind: "client",
      captureStackTrace: false,
      attributes: { ...attributesOf(endpoint), "server.address": host }
    },
    (span) =>
      Effect.catchAllCause(Effect.withParentSpan(call(span), span), (cause) => {
        for (const error of Cause.failures(cause)) span.attribute("error.type", typeOf(error))
        return Effect.failCause(cause)
      })
  )

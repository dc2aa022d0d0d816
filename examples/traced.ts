/**
 * `npx tsx examples/traced.ts`: prints the spans and the metrics of the tour. With
 * OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 it also exports them there.
 */
import { layerJson } from "@effect/opentelemetry/Otlp"
import { FetchHttpClient } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Option } from "effect"
import { metricLines } from "./support/metrics.js"
import { recording, treeLines } from "./support/spans.js"
import { bold } from "./support/terminal.js"
import { TenantLive, tour } from "./tour.js"

// Exports spans, metrics and logs to the endpoint in the standard variable, if it is set.
const ExporterLive = Layer.unwrapEffect(Effect.map(
  Config.option(Config.nonEmptyString("OTEL_EXPORTER_OTLP_ENDPOINT")),
  Option.match({
    onNone: () => Layer.empty,
    onSome: (baseUrl) =>
      layerJson({ baseUrl, resource: { serviceName: "identity-tour" } }).pipe(Layer.provide(FetchHttpClient.layer))
  })
))

// The tour with a tracer that records its spans, and without its own output.
const program = Effect.gen(function*() {
  const console = yield* Effect.console
  const { spans, tracer } = yield* recording
  yield* tour.pipe(Effect.withTracer(tracer), Effect.withConsole({ ...console, log: () => Effect.void }))
  yield* Console.log([bold("Spans"), ...treeLines(spans), "", bold("Metrics"), ...(yield* metricLines)].join("\n"))
})

program.pipe(Effect.provide(Layer.provideMerge(TenantLive, ExporterLive)), NodeRuntime.runMain)

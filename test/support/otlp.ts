/** Receives OTLP over HTTP in JSON, to test what an exporter sends. */
import { layerJson } from "@effect/opentelemetry/Otlp"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Effect, Layer, type Scope } from "effect"
import { rawServer, responseBytes as response } from "./rawServer.js"

interface Value {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: number | string
  readonly doubleValue?: number
}

type Attributes = ReadonlyArray<{ readonly key: string; readonly value: Value }>

interface Event {
  readonly name: string
  readonly attributes: Attributes
}

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 1: internal, 3: client. */
  readonly kind: number
  readonly attributes: Attributes
  readonly events: ReadonlyArray<Event>
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string; readonly attributes: Attributes }>
  /** 1: ok, 2: failed. */
  readonly status: { readonly code: number; readonly message?: string }
}

export interface Receiver {
  readonly url: string
  readonly spans: () => ReadonlyArray<Span>
  /** All requests as text. */
  readonly text: () => string
  /** Exports to the receiver; everything has arrived when the layer is closed. */
  readonly layer: Layer.Layer<never>
}

/** Turns attributes into an object. */
export const valuesOf = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ??
        (value.intValue === undefined ? undefined : Number(value.intValue))
    ])
  )

/** Listens on 127.0.0.1 until the scope closes. */
export const receiver: Effect.Effect<Receiver, never, Scope.Scope> = Effect.map(
  rawServer((_, socket) => void socket.write(response(200, { "content-type": "application/json" }, "{}"))),
  ({ port, requests }) => ({
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      requests.filter(({ line }) => line.startsWith("POST /v1/traces ")).flatMap(({ body }) => {
        // Sound: the exporter follows the protocol.
        const { resourceSpans } = JSON.parse(body) as {
          readonly resourceSpans: ReadonlyArray<{
            readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }>
          }>
        }
        return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
      }),
    text: () => requests.map(({ body, line }) => `${line}\n${body}`).join("\n"),
    layer: layerJson({ baseUrl: `http://127.0.0.1:${port}`, resource: { serviceName: "test" } }).pipe(
      Layer.provide(FetchHttpClient.layer)
    )
  })
)

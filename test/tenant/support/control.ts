/** Calls of the control interface of a tenant in process. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import type * as Tenant from "../../../src/Tenant.js"
import type { Exchanges } from "../../../src/tenant/control/http/api.js"
import type { Snapshot, StreamMessage } from "../../../src/tenant/control/http/schemas.js"
import { keyHeader } from "../../../src/tenant/control/messages.js"
import { itInProcess } from "./calls.js"

// A tenant loads its control only if it is asked for it: here that is done before the first test, which does not wait for it.
await import("../../../src/tenant/control/control.js")
await import("../../../src/tenant/control/http/routes.js")

export const key = "a-key-of-the-tests-0123456789"

export const origin = "http://localhost:8787"

interface Options {
  readonly body?: unknown
  /** The body as it is sent. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly origin?: string
}

/** Sends a request to the control interface, with the key. */
export const control = Effect.fn(function*(method: HttpMethod, path: string, options: Options = {}) {
  const { body, headers = { [keyHeader]: key }, origin: to = origin, text } = options
  const response = yield* HttpClient.execute(
    HttpClientRequest.make(method as "POST")(`${to}/_tenant${path}`, {
      headers,
      ...(body !== undefined && { body: HttpBody.unsafeJson(body) }),
      ...(text !== undefined && { body: HttpBody.text(text, "application/json") })
    })
  )
  const content = yield* response.text
  return {
    status: response.status,
    headers: response.headers,
    text: content,
    json: content.startsWith("{") ? JSON.parse(content) : undefined
  }
})

/** Carries out an action that must succeed. */
export const act = <Name extends keyof Exchanges>(_: Name, method: HttpMethod, path: string, body?: unknown) =>
  Effect.map(control(method, path, { body }), ({ json, status, text }): Exchanges[Name]["response"] => {
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`)
    return json
  })

export const snapshot = Effect.map(act("snapshot", "GET", "/state"), (snapshot): Snapshot => snapshot)

/** The messages of the stream: those of the server-sent events. */
export const messages = Stream.unwrap(
  Effect.map(
    HttpClient.get(`${origin}/_tenant/events`, { headers: { [keyHeader]: key } }),
    (response) => response.stream
  )
).pipe(
  Stream.decodeText(),
  Stream.splitLines,
  Stream.filter((line) => line.startsWith("data: ")),
  Stream.map((line): StreamMessage => JSON.parse(line.slice(6)))
)

/** Lets the event loop run once. */
export const loops = Effect.promise(() => new Promise((resume) => setImmediate(resume)))

/** Reads the stream in the background, and gives the messages so far. */
export const reading = Effect.gen(function*() {
  const read: Array<StreamMessage> = []
  yield* Effect.forkScoped(Stream.runForEach(messages, (message) => Effect.sync(() => read.push(message))))
  yield* Effect.repeat(loops, { until: () => read.length > 0 })
  return read
})

/** Lets this time pass, in steps of batches. */
export const pass = (batches: number) =>
  Effect.forEach(
    Array.from({ length: batches }),
    () => Effect.zipRight(TestClock.adjust("100 millis"), Effect.repeatN(loops, 3)),
    { discard: true }
  )

/** A test with a new tenant in process that has a control interface. */
export const itControlled = (
  name: string,
  run: () => Effect.Effect<unknown, unknown, HttpClient.HttpClient | Tenant.Tenant>,
  options: Tenant.Options = {}
) => itInProcess(name, run, { control: { key: Redacted.make(key) }, ...options })

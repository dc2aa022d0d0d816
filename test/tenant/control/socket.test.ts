/** The control interface on a socket: who may use it, streams that end, and programs that hang up. */
import { NodeHttpServer } from "@effect/platform-node"
import * as HttpServer from "@effect/platform/HttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer, request as httpRequest } from "node:http"
import { networkInterfaces } from "node:os"
import * as Tenant from "../../../src/Tenant.js"
import { keyHeader } from "../../../src/tenant/control/messages.js"
import { key } from "../support/control.js"

const withKey = { [keyHeader]: key }

const serving = <A, E>(
  host: string,
  run: (port: number) => Effect.Effect<A, E>,
  allowedHosts?: ReadonlyArray<string>
) =>
  Effect.gen(function*() {
    const { address } = yield* HttpServer.HttpServer
    return yield* run(address._tag === "TcpAddress" ? address.port : 0)
  }).pipe(
    Effect.provide(Tenant.layerServer),
    Effect.provide(
      Layer.merge(
        Tenant.layerWith({ allowedHosts, control: { key: Redacted.make(key) } }),
        NodeHttpServer.layer(createServer, { port: 0, host })
      )
    )
  )

/** Gives the status of a request; the header `host` may be any. */
const statusOf = (host: string, port: number, headers: Readonly<Record<string, string>>, path = "/_tenant/state") =>
  Effect.async<number, Error>((resume) => {
    const request = httpRequest({ host, port, path, headers: { ...headers, connection: "close" } }, (response) => {
      response.resume()
      response.on("end", () => resume(Effect.succeed(response.statusCode ?? 0)))
    })
    request.on("error", (error) => resume(Effect.fail(error)))
    request.end()
  })

const another = Object.values(networkInterfaces()).flat().find((each) => each?.family === "IPv4" && !each.internal)
  ?.address

describe("on a loopback address", () => {
  it.live("it responds to the key, and to no rebinding host, foreign origin or other key", () =>
    serving("127.0.0.1", (port) =>
      Effect.gen(function*() {
        const own = `localhost:${port}`
        const cases: ReadonlyArray<readonly [headers: Readonly<Record<string, string>>, status: number]> = [
          [{ ...withKey, host: own }, 200],
          [{ ...withKey, host: own, origin: `http://${own}` }, 200],
          [{ host: own }, 403],
          [{ [keyHeader]: "other", host: own }, 403],
          [{ ...withKey, host: "rebinding.example" }, 421],
          [{ ...withKey, host: own, origin: "http://foreign.example" }, 403],
          [{ ...withKey, host: own, origin: "null" }, 403]
        ]
        for (const [headers, status] of cases) {
          assert.strictEqual(yield* statusOf("127.0.0.1", port, headers), status, JSON.stringify(headers))
        }
      })))

  it.live("it streams until the reader leaves, and then records nothing for it", () =>
    serving("127.0.0.1", (port) =>
      Effect.promise(async () => {
        const origin = `http://127.0.0.1:${port}`
        const leaving = new AbortController()
        const stream = await fetch(`${origin}/_tenant/events`, { headers: withKey, signal: leaving.signal })
        assert.strictEqual(stream.headers.get("content-type"), "text/event-stream")
        const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
        const readUntil = async (text: string) => {
          for (let all = ""; !all.includes(text);) {
            const { done, value } = await reader.read()
            if (done) return assert.fail(`the stream ended before ${text}`)
            all += value
          }
        }
        await readUntil("event: snapshot\n")
        await fetch(`${origin}/nowhere`)
        await readUntil("\"path\":\"/nowhere\"")
        leaving.abort()
        assert.strictEqual((await fetch(`${origin}/_tenant/state`, { headers: withKey })).status, 200)
      })))

  it.live("a server that closes ends the streams of its readers, and does not wait for them", () =>
    Effect.gen(function*() {
      const reader = yield* serving("127.0.0.1", (port) =>
        Effect.promise(async () => {
          const stream = await fetch(`http://127.0.0.1:${port}/_tenant/events`, { headers: withKey })
          const reader = stream.body!.getReader()
          assert.isFalse((await reader.read()).done)
          return reader
        }))
      const ended = Effect.promise(async () => {
        while (!(await reader.read()).done);
        return true
      })
      assert.isTrue(yield* ended)
    }))

  it.live("a program that hangs up before the response is recorded as that", () =>
    serving("127.0.0.1", (port) =>
      Effect.promise(async () => {
        const origin = `http://127.0.0.1:${port}`
        const fault = { method: "POST", headers: withKey, body: JSON.stringify({ delay: 60_000 }) }
        await fetch(`${origin}/_tenant/faults`, fault)
        const program = new AbortController()
        const slow = fetch(`${origin}/slow`, { signal: program.signal }).catch(() => "hung up")
        const recorded = async () => {
          const response = await fetch(`${origin}/_tenant/requests`, { headers: withKey })
          return (await response.json() as { items: ReadonlyArray<{ outcome: string }> }).items[0]
        }
        while (await recorded() === undefined);
        program.abort()
        assert.strictEqual(await slow, "hung up")
        const before = await recorded()
        let after = before
        while (after?.outcome === before?.outcome) after = await recorded()
        assert.strictEqual(after?.outcome, "aborted")
      })))
})

describe("on an address that others can reach", () => {
  it.live("it serves only this machine", () =>
    serving("0.0.0.0", (port) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* statusOf("127.0.0.1", port, { ...withKey, host: "localhost" }), 200)
        assert.strictEqual(yield* statusOf("127.0.0.1", port, { ...withKey, host: "rebinding.example" }), 421)
        if (another === undefined) return
        assert.strictEqual(yield* statusOf(another, port, { ...withKey, host: "localhost" }), 403)
        assert.strictEqual(yield* statusOf(another, port, withKey), 421)
      })))

  it.live("it serves the key from everywhere if hosts are allowed, but no other origin", () =>
    serving("0.0.0.0", (port) =>
      Effect.gen(function*() {
        const own = `tenant:${port}`
        const cases: ReadonlyArray<readonly [headers: Readonly<Record<string, string>>, status: number]> = [
          [{ ...withKey, "host": own, "x-forwarded-for": "192.0.2.1" }, 200],
          [{ ...withKey, host: own, origin: `http://${own}` }, 200],
          [{ host: own }, 403],
          [{ ...withKey, host: own, origin: "http://foreign.example" }, 403],
          [{ ...withKey, host: "rebinding.example" }, 421]
        ]
        for (const [headers, status] of cases) {
          assert.strictEqual(yield* statusOf(another ?? "127.0.0.1", port, headers), status, JSON.stringify(headers))
        }
      }), ["tenant"]))
})

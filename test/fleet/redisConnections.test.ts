/** Tests of the connection to a server of Redis that is not there: one that a test plays. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Redacted } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { createServer, type Server, type Socket } from "node:net"
import { InvalidInput } from "../../src/Errors.js"
import * as Redis from "../../src/Redis.js"
import { SharedStore } from "../../src/SharedStore.js"

/** Starts a server that replies to each command, or never, and does not end a connection that the client has ended. */
const serverThatReplies = (reply: string | undefined) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly close: () => void }>((resume) => {
      const sockets: Array<Socket> = []
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        sockets.push(socket.on("error", () => {}))
        socket.on("data", (data) => {
          for (const _ of String(data).match(/\*\d+\r\n\$/g) ?? []) if (reply !== undefined) socket.write(reply)
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = address !== null && typeof address === "object" ? address.port : 0
        const close = () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        resume(Effect.succeed({ url: `redis://:word@127.0.0.1:${port}`, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** The sockets that clients of this process open. */
const clientSockets = Effect.acquireRelease(
  Effect.sync(() => {
    const sockets: Array<Socket> = []
    const add = (message: unknown) => sockets.push((message as { readonly socket: Socket }).socket) // as Node documents
    subscribe("net.client.socket", add)
    return { sockets, add }
  }),
  ({ add }) => Effect.sync(() => unsubscribe("net.client.socket", add))
).pipe(Effect.map(({ sockets }) => sockets))

const build = (url: string) =>
  Effect.scoped(Layer.build(Layer.fresh(Redis.layerStore({ url: Redacted.make(url), timeout: "40 millis" }))))

describe("a store in Redis", () => {
  it.scopedLive("is not built with a wrong password for Redis 5, whose refusal has no code", () =>
    Effect.gen(function*() {
      const { url } = yield* serverThatReplies("-ERR invalid password\r\n")
      const error = yield* Effect.flip(build(url))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.message, "Redis.layerStore: url: the server refuses its password (ERR invalid password)")
    }))

  it.scopedLive("leaves no connection to a server that neither responds nor ends it", () =>
    Effect.gen(function*() {
      const { url } = yield* serverThatReplies(undefined)
      const sockets = yield* clientSockets
      yield* build(url)
      // The next timer destroys it.
      yield* Effect.repeatN(Effect.sleep(1), 4)
      assert.deepStrictEqual(sockets.map(({ destroyed }) => destroyed), [true])
    }))

  it.scopedLive("is not built with a replica of Redis 5 or 6, whose refusal is a failure of the script", () =>
    Effect.gen(function*() {
      const { url } = yield* serverThatReplies(
        "-ERR Error running script (call to f_1): @user_script:11: @user_script: 11: -READONLY You can't write\r\n"
      )
      const error = yield* Effect.flip(build(url))
      assert.strictEqual(
        error.message,
        "Redis.layerStore: url: the server is a read-only replica; name its primary (READONLY)"
      )
    }))

  it.scopedLive("logs the code of what ended its connection, also where TLS is on one side only", () =>
    Effect.gen(function*() {
      const silent = yield* serverThatReplies(undefined)
      const resetting = yield* Effect.acquireRelease(
        Effect.async<Server>((resume) => {
          const server = createServer((socket) => {
            socket.on("error", () => {}).on("data", () => socket.resetAndDestroy())
          }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) => Effect.sync(() => server.close())
      )
      const address = resetting.address()
      const urls = [
        silent.url.replace("redis:", "rediss:"),
        `redis://127.0.0.1:${address !== null && typeof address === "object" ? address.port : 0}`
      ]
      const warnings: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void warnings.push(String(message)))
      for (const url of urls) {
        const store = Layer.build(Layer.fresh(Redis.layerStore({ url: Redacted.make(url), timeout: "40 millis" })))
        yield* Effect.flatMap(store, (context) => Effect.ignore(Context.get(context, SharedStore).get("k"))).pipe(
          Effect.scoped,
          Effect.provide(Logger.replace(Logger.defaultLogger, logger))
        )
      }
      assert.deepStrictEqual(warnings.map((text) => /\((\w+)\)$/.exec(text)?.[1]), ["ETIMEDOUT", "ECONNRESET"])
    }))
})

/** Tests of what a store in Redis sends and reads, and of its connection's settings, without a server. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, Redacted } from "effect"
import { Redis as Client } from "ioredis"
import { vi } from "vitest"
import { freePort } from "../../examples/support/freePort.js"
import * as Redis from "../../src/Redis.js"
import * as SharedStore from "../../src/SharedStore.js"

const storeOf = (options: Partial<Redis.Options> = {}) =>
  Effect.map(
    Layer.build(Layer.fresh(Redis.layerStore({
      url: Redacted.make("redis://127.0.0.1:6379"),
      timeout: "1 minute",
      ...options
    }))),
    Context.get(SharedStore.SharedStore)
  )

/** Connections that open at once, and that reply to each command with the same. They last as long as the scope. */
const connections = (reply?: unknown) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const clients: Array<Client> = []
      const sent: Array<ReadonlyArray<unknown>> = []
      const spies = {
        connect: vi.spyOn(Client.prototype, "connect").mockImplementation(function(this: Client) {
          clients.push(this)
          return Promise.resolve()
        }),
        disconnect: vi.spyOn(Client.prototype, "disconnect"),
        command: vi.spyOn(Client.prototype, "sendCommand").mockImplementation((command) => {
          // The first argument is the digest of the script.
          sent.push(command.args.slice(1))
          command.resolve(reply)
          return command.promise
        })
      }
      return { clients, sent, ...spies }
    }),
    ({ command, connect, disconnect }) =>
      Effect.sync(() => [command, connect, disconnect].forEach((spy) => spy.mockRestore()))
  )

const quiet = Logger.remove(Logger.defaultLogger)

const micros = "1767225600123000"
const now = 1767225600123
const write = (value: string, millis = 1500) => ({ value, timeToLive: Duration.millis(millis) })

describe("a store in Redis", () => {
  it.scopedLive.each<
    readonly [
      title: string,
      request: (store: SharedStore.SharedStore["Type"]) => Effect.Effect<unknown, SharedStore.StoreUnavailable>,
      sent: ReadonlyArray<string>,
      reply: ReadonlyArray<unknown>,
      result: SharedStore.SwapResult
    ]
  >([
    ["reads no value", ({ get }) => get("k"), ["get"], [0, micros, "", ""], { swapped: false, now, entry: undefined }],
    ["reads a value", ({ get }) => get("k"), ["get"], [0, micros, "1.1", "text"], {
      swapped: false,
      now,
      entry: { version: "1.1", value: "text" }
    }],
    ["reads numbers that are strings", ({ get }) => get("k"), ["get"], ["0", micros, "1.1", ""], {
      swapped: false,
      now,
      entry: { version: "1.1", value: "" }
    }],
    [
      "writes a first value",
      ({ swap }) => swap("k", undefined, write("text")),
      ["set", "", "text", "1500"],
      [1, micros, "1.1", ""],
      { swapped: true, now, entry: { version: "1.1", value: "text" } }
    ],
    [
      "writes another value for less than a millisecond",
      ({ swap }) => swap("k", "1.1", write("next", 0.2)),
      ["set", "1.1", "next", "1"],
      ["1", micros, "2.2", ""],
      { swapped: true, now, entry: { version: "2.2", value: "next" } }
    ],
    [
      "writes a value for as long as Redis counts",
      ({ swap }) => swap("k", "1.1", write("next", 1e22)),
      ["set", "1.1", "next", "9007199254740991"],
      [1, micros, "2.2", ""],
      { swapped: true, now, entry: { version: "2.2", value: "next" } }
    ],
    [
      "writes no value over that of another",
      ({ swap }) => swap("k", "1.1", write("mine")),
      ["set", "1.1", "mine", "1500"],
      [0, micros, "2.2", "theirs"],
      { swapped: false, now, entry: { version: "2.2", value: "theirs" } }
    ],
    [
      "has no value without a version",
      ({ swap }) => swap("k", "1.1", write("mine")),
      ["set", "1.1", "mine", "1500"],
      [1, micros, "", ""],
      { swapped: true, now, entry: undefined }
    ],
    ["removes a value", ({ swap }) => swap("k", "1.1", undefined), ["remove", "1.1"], [1, micros, "", ""], {
      swapped: true,
      now,
      entry: undefined
    }]
  ])("%s", ([, request, expected, reply, result]) =>
    Effect.gen(function*() {
      const { sent } = yield* connections(reply)
      const store = yield* storeOf({ prefix: "one:" })
      sent.length = 0 // what it has sent to try its settings
      assert.deepStrictEqual(yield* request(store), result)
      assert.deepStrictEqual(sent, [["1", "one:k", ...expected]])
    }))

  it.scopedLive("is unavailable if the reply is none of the script", () =>
    Effect.gen(function*() {
      yield* connections("OK")
      const { get } = yield* storeOf()
      assert.strictEqual((yield* Effect.flip(get("k")))._tag, "StoreUnavailable")
    }).pipe(Effect.provide(quiet)))
})

describe("the connection to Redis", () => {
  /** The settings that no option of a user changes. */
  const fixed = {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0
  }

  it.scopedLive.each<readonly [title: string, client: Redis.Options["client"], options: object]>([
    ["has time limits, and neither queues nor repeats commands", undefined, {
      ...fixed,
      connectTimeout: 900,
      socketTimeout: 2000
    }],
    ["has other time limits, but no queue of commands, if its user says so", {
      connectTimeout: 7,
      lazyConnect: false,
      enableOfflineQueue: true,
      autoResendUnfulfilledCommands: true,
      maxRetriesPerRequest: 3
    }, { ...fixed, connectTimeout: 7, socketTimeout: 2000 }]
  ])("%s", ([, client, expected]) =>
    Effect.gen(function*() {
      const { clients } = yield* connections()
      yield* storeOf({ client })
      assert.deepStrictEqual(
        clients.map(({ options }) =>
          Object.fromEntries(
            Object.keys(expected).map((name) => [name, Object.entries(options).find(([key]) => key === name)?.[1]])
          )
        ),
        [expected]
      )
    }))

  it.scopedLive("is tried again after 50 ms, later each time up to half a second", () =>
    Effect.gen(function*() {
      const { clients } = yield* connections()
      yield* storeOf()
      const [client] = clients
      assert.deepStrictEqual([1, 2, 9, 10, 11, 999].map((nth) => client?.options.retryStrategy?.(nth)), [
        50,
        100,
        450,
        500,
        500,
        500
      ])
    }))

  it.scopedLive("is closed with its scope, and not before", () =>
    Effect.gen(function*() {
      const { clients, disconnect } = yield* connections([0, micros, "", ""])
      yield* Effect.scoped(Effect.gen(function*() {
        const { get } = yield* storeOf()
        yield* get("k")
        assert.lengthOf(disconnect.mock.calls, 0)
      }))
      assert.deepStrictEqual(clients.map(({ status }) => status), ["end"])
      assert.lengthOf(disconnect.mock.calls, 1)
    }))

  it.scopedLive("prints nothing where there is no server", () =>
    Effect.gen(function*() {
      const printed = yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(console, "error").mockImplementation(() => {})),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const port = yield* freePort
      const retryStrategy = vi.fn<() => null>(() => null)
      const ended = yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(Client.prototype, "emit")),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      yield* storeOf({ url: Redacted.make(`redis://127.0.0.1:${port}`), client: { retryStrategy } })
      yield* Effect.promise(() =>
        vi.waitUntil(() => ended.mock.calls.some(([name]) => name === "end"), { timeout: 60_000 })
      )
      assert.isAbove(retryStrategy.mock.calls.length, 0)
      assert.deepStrictEqual(printed.mock.calls, [])
    }))
})

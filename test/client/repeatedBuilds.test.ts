/** Programs that build a client for each call are warned, once in a process. */
import { assert, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, TestClock } from "effect"
import { globalValue } from "../../src/internal/runtime/memoize.js"
import { count } from "../../src/internal/telemetry/repeatedBuilds.js"
import * as Testing from "../../src/Testing.js"
import { over } from "../support/client.js"

/** Builds clients of a host, and returns the log lines. */
const linesOf = (host: string, builds: number) =>
  Effect.gen(function*() {
    const lines: Array<unknown> = []
    const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => lines.push(message)))
    const build = Layer.build(over(Testing.layerHttp(), `https://${host}`)).pipe(Effect.scoped)
    yield* Effect.repeatN(build, builds - 1).pipe(Effect.provide(logger))
    return lines.flat()
  })

// Other test files of this process may have caused the warning.
beforeEach(() => {
  const name = "effect-identity-client/internal/telemetry/repeatedBuilds"
  const builds = globalValue(name, () => ({ byTenant: new Map(), hasWarned: true }))
  builds.byTenant.clear()
  builds.hasWarned = false
})

describe("a client that is built again and again", () => {
  it.effect("is not reported if a thousand tenants have a client each", () =>
    Effect.gen(function*() {
      for (let tenant = 0; tenant < 1000; tenant++) {
        assert.deepStrictEqual(yield* linesOf(`${tenant}.example.com`, 1), [])
      }
    }))

  it.effect("is not reported if it takes longer than a minute", () =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => lines.push(message)))
      const slowly = count("https://slow.example.com", yield* Effect.clock)
      yield* Effect.repeatN(Effect.zipRight(slowly, TestClock.adjust("2 seconds")), 200).pipe(Effect.provide(logger))
      assert.deepStrictEqual(lines, [])
    }))

  it.effect("is reported at the 50th build within a minute, then no more", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* linesOf("fast.example.com", 49), [])
      assert.deepStrictEqual(yield* linesOf("fast.example.com", 1), [
        "the client of fast.example.com was built 50 times within a minute; build its layer once: token, limits and connections are lost each time"
      ])
      assert.deepStrictEqual(yield* linesOf("other.example.com", 200), [])
    }))
})

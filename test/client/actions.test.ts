/** Tests `Actions`: versions by number, their changes, and rollbacks. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FiberRef, Stream, TestClock } from "effect"
import {
  Actions,
  type ActionVersion,
  deployActionVersion,
  Errors,
  getAction,
  getActionVersion,
  listActionVersions,
  type Operation
} from "../../src/index.js"
import { isBackgroundWork } from "../../src/internal/limiter/limiter.js"
import * as Testing from "../../src/Testing.js"
import { allLines } from "../support/telemetry.js"

const version = (number: number, more: Partial<ActionVersion> = {}): ActionVersion => ({
  id: `id-${number}`,
  number,
  code: `code ${number}\n`,
  status: "built",
  deployed: number === 3,
  ...more
})

/** A service whose new version is live after a number of polls, or whose build fails. Looks at the action fail with `failures` first. */
const service = (
  options: {
    readonly polls?: number
    readonly fails?: boolean
    readonly made?: ActionVersion
    readonly live?: ActionVersion
    readonly failures?: ReadonlyArray<Operation.Failure<typeof getAction>>
  } = {}
) => {
  const calls: Array<string> = []
  const { fails = false, made = version(4, { code: "code 1\n" }), polls = 0 } = options
  const { failures = [], live = version(3) } = options
  const failing = [...failures]
  let left = polls
  const layer = Testing.layer(
    Testing.handle(listActionVersions, ({ page = 0 }) =>
      Effect.sync(() => {
        calls.push(`list ${page}`)
        return { total: 3, page, per_page: 2, versions: page === 0 ? [version(3), version(2)] : [version(1)] }
      })),
    Testing.handle(deployActionVersion, ({ id }) =>
      Effect.sync(() => {
        calls.push(`deploy ${id}`)
        return made
      })),
    Testing.handle(getAction, () =>
      Effect.flatMap(FiberRef.get(isBackgroundWork), (isBackground) => {
        calls.push(isBackground ? "action" : "action in the foreground")
        const failure = failing.shift()
        if (failure !== undefined) return Effect.fail(failure)
        return Effect.succeed({ deployed_version: left-- > 0 || fails ? live : made })
      })),
    Testing.handle(getActionVersion, () =>
      Effect.sync(() => {
        calls.push("version")
        return {
          ...made,
          status: fails ? "failed" as const : "building" as const,
          errors: [{ msg: "no such module" }, {}]
        }
      }))
  )
  return { calls, layer }
}

describe("changes", () => {
  it("has the parts that differ, sorted lines for dependencies and secrets", () => {
    const before = version(1, { dependencies: [{ name: "b", version: "2" }, { name: "a", version: "1" }] })
    const after = { ...before, code: "new", secrets: [{ name: "KEY" }] }
    assert.deepStrictEqual(Actions.changes(before, after), [
      { part: "code", before: "code 1\n", after: "new" },
      { part: "secrets", before: "", after: "KEY of undefined\n" }
    ])
    assert.deepStrictEqual(Actions.changes({}, before)[1], { part: "dependencies", before: "", after: "a@1\nb@2\n" })
    assert.deepStrictEqual(Actions.changes(before, before), [])
  })

  it("has dependencies that come from another registry", () => {
    const from = (registry_url?: string) =>
      version(1, { dependencies: [{ name: "a", version: "1", ...(registry_url !== undefined && { registry_url }) }] })
    const [one, other] = ["https://registry.example.com", "https://other.example.com"]
    assert.deepStrictEqual(Actions.changes(from(one), from(other)), [
      { part: "dependencies", before: `a@1 from ${one}\n`, after: `a@1 from ${other}\n` }
    ])
    assert.deepStrictEqual(Actions.changes(from(), from(one)), [
      { part: "dependencies", before: "a@1\n", after: `a@1 from ${one}\n` }
    ])
  })
})

describe("versions and find", () => {
  it.effect("list all, and find by number", () => {
    const { calls, layer } = service()
    return Effect.gen(function*() {
      const all = yield* Stream.runCollect(Actions.versions("a"))
      assert.deepStrictEqual([...all].map(({ number }) => number), [3, 2, 1])
      calls.length = 0
      const { deployed, found } = yield* Actions.find("a", [2])
      assert.deepStrictEqual([deployed?.number, found.get(2)?.id], [3, "id-2"])
      assert.isUndefined((yield* Actions.find("a", [9])).found.get(9))
    }).pipe(Effect.provide(layer))
  })

  it.effect("request at most one page after the last version that is wanted", () => {
    const pages: Array<number | undefined> = []
    const layer = Testing.layer(
      Testing.handle(listActionVersions, ({ page = 0, per_page = 20 }) =>
        Effect.sync(() => {
          pages.push(page)
          const numbers = Array.from({ length: per_page }, (_, nth) => 500 - page * per_page - nth)
          return {
            total: 500,
            page,
            per_page,
            versions: numbers.map((number) => version(number, { deployed: number === 500 }))
          }
        }))
    )
    return Effect.gen(function*() {
      assert.strictEqual((yield* Actions.find("a", [])).deployed?.number, 500)
      assert.deepStrictEqual(pages, [0])
      pages.length = 0
      yield* Actions.find("a", [499])
      assert.isAtMost(pages.length, 2)
      pages.length = 0
      yield* Actions.find("a", [420])
      assert.isAtMost(pages.length, 3)
    }).pipe(Effect.provide(layer))
  })

  it.effect("log no text of the service if they fail", () => {
    const forbidden = new Errors.Forbidden({ operation: "listActionVersions", message: "no" })
    const layer = Testing.layer(Testing.handle(listActionVersions, () => Effect.fail(forbidden)))
    return Effect.gen(function*() {
      const { lines, value } = yield* allLines(Effect.flip(Actions.find("a", [2])))
      assert.strictEqual(value, forbidden)
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide(layer))
  })
})

describe("rollback", () => {
  it.effect("shows both versions, deploys once, and waits until the new version is live", () => {
    const { calls, layer } = service({ polls: 3 })
    return Effect.gen(function*() {
      const shown: Array<unknown> = []
      const running = yield* Effect.fork(Actions.rollback("a", 1, {
        confirm: (before, after) => Effect.sync(() => shown.push(before?.number, after.number) > 0),
        onDeployed: ({ number }) => Effect.sync(() => void shown.push(number))
      }))
      yield* TestClock.adjust("2 seconds")
      assert.isNull(yield* Fiber.poll(running).pipe(Effect.map((exit) => exit._tag === "None" ? null : exit)))
      yield* TestClock.adjust("1 second")
      const { outcome, version } = yield* Fiber.join(running)
      assert.deepStrictEqual([outcome, version.number, ...shown], ["live", 4, 3, 1, 4])
      assert.lengthOf(calls.filter((call) => call === "deploy id-1"), 1)
      assert.lengthOf(calls.filter((call) => call === "action"), 4)
    }).pipe(Effect.provide(layer))
  })

  it.effect("deploys nothing that is live, declined or missing", () => {
    const { calls, layer } = service()
    return Effect.gen(function*() {
      assert.strictEqual((yield* Actions.rollback("a", 3)).outcome, "unchanged")
      const declined = yield* Actions.rollback("a", 2, { confirm: () => Effect.succeed(false) })
      assert.strictEqual(declined.outcome, "declined")
      const missing = yield* Effect.flip(Actions.rollback("a", 9))
      assert.instanceOf(missing, Actions.VersionNotFound)
      assert.strictEqual(missing.message, "this action has no version 9")
      assert.deepStrictEqual(calls.filter((call) => !call.startsWith("list")), [])
    }).pipe(Effect.provide(layer))
  })

  it.effect("fails with the messages of the build", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(Actions.rollback("a", 1))
      assert.instanceOf(failure, Actions.DeploymentFailed)
      assert.strictEqual(failure.reason, "failed")
      assert.strictEqual(failure.message, "version 4 could not be built: no such module")
    }).pipe(Effect.provide(service({ fails: true }).layer)))

  it.effect("fails when the time is up, and polls ever less often", () => {
    const { calls, layer } = service({ polls: Infinity })
    return Effect.gen(function*() {
      const running = yield* Effect.fork(Effect.flip(Actions.rollback("a", 1, { timeout: "1 minute" })))
      yield* TestClock.adjust("1 minute")
      const failure = yield* Fiber.join(running)
      assert.instanceOf(failure, Actions.DeploymentFailed)
      assert.strictEqual(failure.message, "version 4 is deployed, but was not live in time")
      assert.isBelow(calls.filter((call) => call === "action").length, 20)
    }).pipe(Effect.provide(layer))
  })

  const operation = "getAction"
  const unavailable = new Errors.UnexpectedResponse({
    operation,
    message: "getAction: status 503",
    status: 503,
    reason: "status",
    shape: "no content type, 0 bytes"
  })
  const passing = [
    unavailable,
    new Errors.UnexpectedResponse({ operation, message: "late", status: 408, reason: "status", shape: "" }),
    new Errors.TokenError({ operation, message: "no response", code: "ECONNRESET" }),
    new Errors.RateLimited({ operation, message: "too many" }),
    new Errors.TransportError({ operation, message: "no response", outcome: "unknown", code: "TIMEOUT" }),
    new Errors.TransportError({ operation, message: "no connection", outcome: "not-sent", code: "ECONNREFUSED" })
  ]

  it.effect("goes on waiting after failures that pass", () => {
    const { calls, layer } = service({ failures: passing })
    return Effect.gen(function*() {
      const running = yield* Effect.fork(Actions.rollback("a", 1))
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(running)).outcome, "live")
      assert.lengthOf(calls.filter((call) => call === "action"), passing.length + 1)
      assert.notInclude(calls, "action in the foreground")
    }).pipe(Effect.provide(layer))
  })

  it.effect("ends at once after a failure that does not pass", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(Actions.rollback("a", 1))
      assert.instanceOf(failure, Errors.Forbidden)
    }).pipe(
      Effect.provide(service({ failures: [new Errors.Forbidden({ operation, message: "no" })] }).layer)
    ))

  it.effect("names the last failure when the time is up, if the last look failed", () =>
    Effect.gen(function*() {
      const running = yield* Effect.fork(Effect.flip(Actions.rollback("a", 1, { timeout: "1 minute" })))
      yield* TestClock.adjust("1 minute")
      const failure = yield* Fiber.join(running)
      assert.instanceOf(failure, Actions.DeploymentFailed)
      assert.strictEqual(
        failure.message,
        "version 4 is deployed, but was not live in time: getAction: status 503"
      )
    }).pipe(Effect.provide(service({ failures: Array.from({ length: 100 }, () => unavailable) }).layer)))

  it.effect("names no failure when the time is up, if a later look succeeded", () =>
    Effect.gen(function*() {
      const running = yield* Effect.fork(Effect.flip(Actions.rollback("a", 1, { timeout: "1 minute" })))
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Fiber.join(running), { reason: "timeout", details: [] })
    }).pipe(Effect.provide(service({ failures: passing, polls: Infinity }).layer)))

  it.effect("fails at once if a version that was deployed later is live", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(Actions.rollback("a", 1))
      assert.instanceOf(failure, Actions.DeploymentFailed)
      assert.strictEqual(failure.reason, "superseded")
      assert.strictEqual(failure.message, "version 4 was deployed, but a later version is live")
    }).pipe(Effect.provide(service({ polls: Infinity, live: version(5) }).layer)))

  it.effect("waits though the version that was live before has a greater number", () =>
    Effect.gen(function*() {
      const running = yield* Effect.fork(Actions.rollback("a", 1))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(running)).outcome, "live")
    }).pipe(Effect.provide(service({ polls: 3, made: version(2, { id: "made" }) }).layer)))

  for (const [what, made] of Object.entries({ number: { number: 4 }, code: { code: "code 1\n" } })) {
    it.effect(`recognizes a version without an id by its ${what}`, () =>
      Effect.gen(function*() {
        const running = yield* Effect.fork(Actions.rollback("a", 1))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(running)).outcome, "live")
      }).pipe(Effect.provide(service({ polls: 1, made }).layer)))
  }

  it.effect("fails like its operations", () =>
    Effect.gen(function*() {
      const failure = yield* Effect.flip(Actions.rollback("a", 1))
      assert.instanceOf(failure, Errors.Forbidden)
    }).pipe(Effect.provide(Testing.layer(
      Testing.handle(listActionVersions, () =>
        Effect.fail(new Errors.Forbidden({ operation: "listActionVersions", message: "no" })))
    ))))
})

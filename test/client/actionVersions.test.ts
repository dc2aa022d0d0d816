/** Tests how `Actions` tells versions apart: what changed, which are found, and which is live after a rollback. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  Actions,
  type ActionVersion,
  deployActionVersion,
  Errors,
  getAction,
  getActionVersion,
  listActionVersions,
  Timestamp
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import * as VirtualTime from "../support/virtualTime.js"

const [one, two, three]: readonly [ActionVersion, ActionVersion, ActionVersion] = [
  { id: "one", number: 1, code: "1" },
  { id: "two", number: 2, code: "2" },
  { id: "three", number: 3, code: "3", deployed: true }
]

const listing = (versions: ReadonlyArray<ActionVersion>) =>
  Testing.handle(
    listActionVersions,
    () => Effect.succeed({ total: versions.length, page: 0, per_page: 50, versions: [...versions] })
  )

describe("changes", () => {
  const at = Timestamp.make("2024-01-01T00:00:00Z")
  const [a, b] = [{ name: "A", updated_at: at }, { name: "B", updated_at: at }]
  const rows: ReadonlyArray<readonly [string, ActionVersion, ActionVersion, ReadonlyArray<Actions.Change>]> = [
    ["has code where there was none", {}, { code: "x" }, [{ part: "code", before: "", after: "x" }]],
    ["has no code where there was some", { code: "x" }, {}, [{ part: "code", before: "x", after: "" }]],
    ["is empty for two versions without fields", {}, {}, []],
    ["ignores the order of secrets", { secrets: [a, b] }, { secrets: [b, a] }, []],
    ["sorts secrets, one on a line", {}, { secrets: [b, a] }, [
      { part: "secrets", before: "", after: `A of ${at}\nB of ${at}\n` }
    ]]
  ]
  for (const [title, before, after, expected] of rows) {
    it(title, () => assert.deepStrictEqual(Actions.changes(before, after), expected))
  }
})

describe("find", () => {
  const unnumbered = { id: "draft", code: "0" }
  const rows = [
    ["keeps only versions that are wanted", [unnumbered, three, two, one], [2], [[2, two]], three],
    ["keeps all that are wanted", [three, two, one], [1, 3], [[3, three], [1, one]], three],
    ["goes on to the deployed version", [{ ...three, deployed: false }, { ...two, deployed: true }], [3], [
      [3, { ...three, deployed: false }]
    ], { ...two, deployed: true }],
    ["finds no deployed version where there is none", [two, one], [2], [[2, two]], undefined]
  ] as const
  for (const [title, versions, numbers, found, deployed] of rows) {
    it.effect(title, () =>
      Effect.gen(function*() {
        const result = yield* Actions.find("a", numbers)
        assert.deepStrictEqual([...result.found], found.map(([number, version]) => [number, version]))
        assert.deepStrictEqual(result.deployed, deployed)
      }).pipe(Effect.provide(Testing.layer(listing(versions)))))
  }
})

/** What a look at the action finds: the version that is live, none, a failure of the service, or nothing for ever. */
type Look = ActionVersion | "none" | "unavailable" | "no response"

const unavailable = new Errors.UnexpectedResponse({
  operation: "getAction",
  message: "getAction: status 503",
  status: 503,
  reason: "status",
  shape: ""
})

const lookResult = (look: Look) => {
  switch (look) {
    case "none":
      return Effect.succeed({})
    case "unavailable":
      return Effect.fail(unavailable)
    case "no response":
      return Effect.never
    default:
      return Effect.succeed({ deployed_version: look })
  }
}

/** Rolls back to version 1 for at most 1 s, which lets it look at 0 s and at 0.5 s; the last look repeats. */
const rollBack = (made: ActionVersion, looks: ReadonlyArray<Look>, versions = [three, two, one]) => {
  let count = 0
  const layer = Testing.layer(
    listing(versions),
    Testing.handle(deployActionVersion, () => Effect.succeed(made)),
    Testing.handle(getAction, () => Effect.suspend(() => lookResult(looks[count++] ?? looks.at(-1) ?? "none"))),
    Testing.handle(getActionVersion, () => Effect.succeed({ status: "building" as const }))
  )
  const rollback = Effect.match(Actions.rollback("a", 1, { timeout: "1 second" }), {
    onFailure: (failure) => failure,
    onSuccess: (rollback) => rollback
  })
  return VirtualTime.run(Effect.provide(rollback, layer), { most: "1 second" }).pipe(
    Effect.map((result) => ({ looks: count, result }))
  )
}

describe("rollback", () => {
  const made = { id: "new", number: 4, code: "1" }

  const waits: ReadonlyArray<readonly [string, ActionVersion, Look]> = [
    ["an earlier version that was not live before", made, two],
    ["a version of another id, though all else is the same", made, { ...made, id: "other" }],
    ["no version", made, "none"],
    ["a version of another number, if the new one has no id", { number: 4, code: "3" }, { number: 3, code: "3" }],
    ["another code, if the new version has neither id nor number", { code: "1" }, { code: "3" }]
  ]
  for (const [title, version, before] of waits) {
    it.effect(`waits while what is live is ${title}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* rollBack(version, [before, version]), {
          looks: 2,
          result: { outcome: "live", version }
        })
      }))
  }

  const failures: ReadonlyArray<
    readonly [string, Look, { reason: string; details: ReadonlyArray<string>; message: string }]
  > = [
    ["a later version is live, and none was before", { id: "five", number: 5 }, {
      reason: "superseded",
      details: [],
      message: "version 4 was deployed, but a later version is live"
    }],
    ["the time is up and the last look failed", "unavailable", {
      reason: "timeout",
      details: ["getAction: status 503"],
      message: "version 4 is deployed, but was not live in time: getAction: status 503"
    }],
    ["the time is up before the first look ends", "no response", {
      reason: "timeout",
      details: [],
      message: "version 4 is deployed, but was not live in time"
    }]
  ]
  for (const [title, look, expected] of failures) {
    it.effect(`fails if ${title}`, () =>
      Effect.gen(function*() {
        const { result } = yield* rollBack(made, [look], [two, one])
        assert.deepInclude(result, { _tag: "DeploymentFailed", actionId: "a", version: made, ...expected })
      }))
  }

  it.effect("fails if there is no such version", () =>
    Effect.gen(function*() {
      const { looks, result } = yield* rollBack(made, [made], [three])
      assert.deepInclude(result, {
        _tag: "VersionNotFound",
        actionId: "a",
        number: 1,
        message: "this action has no version 1"
      })
      assert.strictEqual(looks, 0)
    }))
})

/** Tests of the tenant's actions and their versions, and of deployment. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as TestClock from "effect/TestClock"
import * as operations from "../../../src/operations/index.js"
import * as Tenant from "../../../src/Tenant.js"
import { action, call, itInProcess, largeBuckets, listActionVersions } from "../support/calls.js"

const { demo } = Tenant
const getAction = operations.getAction.endpoint
const getActionVersion = operations.getActionVersion.endpoint
const deployActionVersion = operations.deployActionVersion.endpoint
const [newest, earlier, oldest] = action.versions

/** The deployed version as actions also show it. */
const current = {
  id: newest.id,
  code: newest.code,
  runtime: newest.runtime,
  status: "BUILT",
  number: newest.number,
  build_time: newest.built_at,
  created_at: newest.created_at,
  updated_at: newest.updated_at
}

/** The part of an OpenAPI document that has the parameters of reading calls. */
interface Document {
  readonly paths: Readonly<
    Record<string, {
      readonly get: {
        readonly parameters: ReadonlyArray<{ readonly name: string; readonly schema: { readonly maximum?: number } }>
      }
    }>
  >
}

const list = (query = "") => call(operations.listActions.endpoint, { query })
const actionOf = (id: string = action.id) => Effect.map(call(getAction, { params: { id } }), ({ json }) => json)
const deploy = (id: string, body: object = {}) =>
  call(deployActionVersion, { params: { actionId: action.id, id }, body })
const versions = Effect.map(
  call(listActionVersions, { params: { actionId: action.id } }),
  ({ json }): ReadonlyArray<Tenant.Version> => json.versions
)

describe("actions", () => {
  itInProcess("are given with the version that is deployed", () =>
    Effect.gen(function*() {
      const found = yield* actionOf()
      assert.isTrue(Schema.is(operations.Action)(found))
      const { current_version, deployed_version, ...own } = found
      assert.deepStrictEqual(deployed_version, JSON.parse(JSON.stringify(newest)))
      assert.deepStrictEqual(current_version, current)
      assert.deepStrictEqual(own, {
        id: action.id,
        name: "greet",
        supported_triggers: [{ id: "post-login", version: "v3" }],
        all_changes_deployed: true,
        created_at: action.created_at,
        updated_at: action.updated_at,
        status: "built",
        code: newest.code,
        dependencies: newest.dependencies,
        runtime: newest.runtime,
        secrets: newest.secrets
      })
    }))

  itInProcess("have the fields of a seed that the tenant does not know", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      const seeded: Tenant.Action = Object.assign({ id: "1", versions: [] }, { installed_integration_id: "i1" })
      yield* seed({ actions: [seeded] })
      assert.deepInclude(yield* actionOf("1"), { id: "1", installed_integration_id: "i1" })
    }))

  itInProcess("have fields of their own if they are seeded so", () =>
    Effect.gen(function*() {
      const own = {
        name: "own",
        supported_triggers: [{ id: "credentials-exchange", version: "v2" }],
        created_at: "2026-01-01T00:00:00.000Z",
        updated_at: "2026-01-02T00:00:00.000Z"
      }
      const { seed } = yield* Tenant.Tenant
      yield* seed({ actions: [{ id: "1", ...own, draft: { code: "draft" }, versions: action.versions }] })
      assert.deepStrictEqual(yield* actionOf("1"), {
        id: "1",
        ...own,
        code: "draft",
        status: "built",
        all_changes_deployed: false,
        current_version: current,
        deployed_version: JSON.parse(JSON.stringify(newest))
      })
    }))

  itInProcess("have the content of the version that is deployed, or else of the newest", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      const [second, first] = [{ id: "v2", code: "b" }, { id: "v1", code: "a" }]
      const deployed = { ...first, deployed: true }
      for (
        const [versions, expected] of [
          [[], { all_changes_deployed: false }],
          [[second, first], { code: "b", all_changes_deployed: false }],
          [[second, deployed], {
            code: "a",
            all_changes_deployed: true,
            current_version: first,
            deployed_version: deployed
          }]
        ] as const
      ) {
        yield* seed({ actions: [{ id: "1", versions }] })
        assert.deepStrictEqual(yield* actionOf("1"), {
          id: "1",
          supported_triggers: [],
          status: "built",
          ...expected
        })
      }
    }))

  itInProcess("are listed, by page, trigger, name and deployment", () =>
    Effect.gen(function*() {
      const ids = (query?: string) =>
        Effect.map(list(query), ({ json }) => [json.actions.map(({ id }: any) => id), json.total])
      const [first, second] = demo.actions.map(({ id }) => id)
      const { json } = yield* list()
      assert.deepStrictEqual(json.actions[0], yield* actionOf())
      assert.deepStrictEqual([json.total, json.page, json.per_page], [2, undefined, 20])
      assert.deepStrictEqual((yield* list("?page=1&per_page=1")).json.page, 1)
      assert.deepStrictEqual(yield* ids("?page=1&per_page=1"), [[second], 2])
      assert.deepStrictEqual(yield* ids("?triggerId=post-login"), [[first], 1])
      assert.deepStrictEqual(yield* ids("?actionName=exchange-legacy-token"), [[second], 1])
      assert.deepStrictEqual(yield* ids("?deployed=true"), [[first, second], 2])
      assert.deepStrictEqual(yield* ids("?deployed=false"), [[], undefined])
      assert.deepStrictEqual(yield* ids("?installed=true"), [[], undefined])
      assert.deepStrictEqual(yield* ids("?installed=false"), [[first, second], 2])
      assert.strictEqual((yield* list("?per_page=101")).status, 400)
      const triggers = ["post-login", "credentials-exchange"].map((id) => ({ id, version: "v2" }))
      const { seed } = yield* Tenant.Tenant
      yield* seed({ actions: [{ id: "new", supported_triggers: triggers, versions: [] }] })
      assert.deepStrictEqual(yield* ids("?triggerId=credentials-exchange"), [["new"], 1])
      assert.deepStrictEqual(yield* ids("?triggerId=post-login"), [[first, "new"], 2])
      assert.deepStrictEqual(yield* ids("?deployed=false"), [["new"], 1])
      assert.deepStrictEqual(yield* ids("?deployed=true"), [[first, second], 2])
    }), { buckets: largeBuckets })

  it("are documented with the size of their largest page, as are versions", () => {
    const { paths } = Tenant.openapi as unknown as Document // sound: other tests check that it is OpenAPI
    for (const path of ["/api/v2/actions/actions", "/api/v2/actions/actions/{actionId}/versions"]) {
      const size = paths[path]?.get.parameters.find(({ name }) => name === "per_page")
      assert.strictEqual(size?.schema.maximum, 100, path)
    }
  })

  itInProcess("and versions that do not exist are a 404", () =>
    Effect.gen(function*() {
      const message = (call: Effect.Effect<{ readonly status: number; readonly json: any }, any, any>) =>
        Effect.map(call, ({ json, status }) => [status, json.message])
      const noAction = [404, "That action does not exist."]
      const noVersion = [404, "The action version does not exist."]
      const unknown = { actionId: "x", id: newest.id }
      const unknownVersion = { actionId: action.id, id: "x" }
      assert.deepStrictEqual(yield* message(call(getAction, { params: { id: "x" } })), noAction)
      assert.deepStrictEqual(yield* message(call(getActionVersion, { params: unknown })), noAction)
      assert.deepStrictEqual(yield* message(call(deployActionVersion, { params: unknown, body: {} })), noAction)
      assert.deepStrictEqual(yield* message(call(getActionVersion, { params: unknownVersion })), noVersion)
      assert.deepStrictEqual(yield* message(call(deployActionVersion, { params: unknownVersion, body: {} })), noVersion)
    }))
})

describe("deployment", () => {
  itInProcess("makes a new version, which is live two seconds later", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.parse("2026-01-01T00:00:00.000Z"))
      const before = yield* actionOf()
      const { json, status } = yield* deploy(oldest.id)
      assert.strictEqual(status, 200)
      const content = Struct.omit(oldest, "built_at")
      assert.match(json.id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
      assert.deepStrictEqual(json, {
        ...JSON.parse(JSON.stringify(content)),
        id: json.id,
        number: 4,
        deployed: false,
        created_at: "2026-01-01T00:00:00.000000000Z",
        updated_at: "2026-01-01T00:00:00.000000000Z",
        action: { ...Struct.omit(action, "versions"), all_changes_deployed: false }
      })
      assert.deepStrictEqual(yield* actionOf(), before)
      yield* TestClock.adjust("1999 millis")
      assert.deepStrictEqual(
        (yield* call(getActionVersion, { params: { actionId: action.id, id: json.id } })).json,
        json
      )
      yield* TestClock.adjust("1 millis")
      const built = (yield* actionOf()).deployed_version
      assert.deepStrictEqual(built, {
        ...Struct.omit(json, "action"),
        deployed: true,
        built_at: "2026-01-01T00:00:02.000000000Z",
        updated_at: "2026-01-01T00:00:02.000000000Z"
      })
      assert.deepStrictEqual((yield* versions).map(({ deployed, number }) => [number, deployed]), [
        [4, true],
        [3, false],
        [2, false],
        [1, false]
      ])
    }))

  itInProcess("of a version that is not built is refused", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      yield* seed({ actions: [{ ...action, versions: [{ ...newest, status: "failed" }] }] })
      const { json, status } = yield* deploy(newest.id)
      assert.deepStrictEqual([status, json.message], [400, "The action version is not built."])
    }))

  itInProcess("leaves the draft as it is, unless it shall be updated", () =>
    Effect.gen(function*() {
      yield* deploy(oldest.id)
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* actionOf(), { code: newest.code, all_changes_deployed: false })
      yield* deploy(oldest.id, { update_draft: true })
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* actionOf(), { code: oldest.code, all_changes_deployed: true })
    }))

  itInProcess("of two versions at once ends with the later one", () =>
    Effect.gen(function*() {
      yield* deploy(oldest.id)
      yield* TestClock.adjust("1 seconds")
      yield* deploy(earlier.id)
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* actionOf()).deployed_version.number, 4)
      yield* TestClock.adjust("1 seconds")
      assert.include((yield* actionOf()).deployed_version, { number: 5, code: earlier.code })
      const { state } = yield* Tenant.Tenant
      assert.isFalse("deployments" in (yield* state).actions[0]!)
    }))

  itInProcess("takes as long as the settings say", () =>
    Effect.gen(function*() {
      yield* deploy(earlier.id)
      assert.strictEqual((yield* actionOf()).deployed_version.number, 4)
    }), { durations: { deployment: 0 } })
})

/** Facts of the real wire format, as far as a test of the client can show them. */
import { assert, describe, it, vi } from "@effect/vitest"
import { DateTime, Duration, Effect, type FastCheck, Option, ParseResult, Schema, TestClock } from "effect"
import { scopesOf } from "../../src/Endpoint.js"
import {
  ActionVersions,
  createUsersExport,
  deleteEventStream,
  Errors,
  IdentityClient,
  listActionVersions,
  Operation,
  redeliverEvent,
  TokenExchangeProfile,
  updateTokenExchangeProfile,
  UsersExportJob
} from "../../src/index.js"
import { makeJsonSchema } from "../../src/internal/schema/jsonSchema.js"
import { fromSchema, type SchemaNode } from "../../src/internal/schema/schemaTree.js"
import * as Testing from "../../src/Testing.js"
import { forAll } from "../support/arbitraries.js"
import { bodyOf, failed, resultOf, scripted, sent, sentOne } from "../support/client.js"
import { operations, sample, type Subject } from "../support/operations.js"
import { arbitraryOf } from "../support/schemaArbitrary.js"

const id = "est_1234567890123456789012"
const event_id = "evt_1234567890123456789012"
const actionId = "910b1053-577f-4d81-a8c8-020e7319a38a"

const json = (value: unknown) => Testing.reply({ body: value })

/** A reply without a content type, which a string would get. */
const bare = (text: string, status = 200) => Testing.reply({ status, body: new TextEncoder().encode(text) })

/** The value that an operation returns for a JSON body, and the body. */
const decoded = <A>(operation: Subject, value: A) =>
  Effect.map(resultOf(operation, sample(operation), json(value)), (found) => [found, value] as const)

const page = (version: object) => ({ total: 1, per_page: 20, versions: [version] })

const job = {
  id: "job_0000000000000001",
  type: "users_export",
  status: "pending",
  connection: "Username-Password-Authentication"
}

const profile = {
  id: "tep_0000000000000001",
  name: "A profile",
  type: "custom_authentication",
  subject_token_type: "urn:acme:legacy",
  action_id: actionId,
  created_at: "2024-02-08T12:41:33.123Z",
  updated_at: "2024-02-08T12:41:33.123Z"
}

const problem = (statusCode: number, error: string, message: string, errorCode?: string, more: object = {}) =>
  Testing.reply({
    status: statusCode,
    body: { statusCode, error, message, ...(errorCode !== undefined && { errorCode }), ...more }
  })

describe("the operations are the contract's, and twelve of the vendor's documents", () => {
  const contract = [
    ["createUsersExport", "POST", "/jobs/users-exports", "read:users", "400 401 403 429"],
    [
      "updateTokenExchangeProfile",
      "PATCH",
      "/token-exchange-profiles/:id",
      "update:token_exchange_profiles",
      "400 401 403 404 409 429"
    ],
    ["listActionVersions", "GET", "/actions/actions/:actionId/versions", "read:actions", "400 401 403 404 429"],
    [
      "redeliverEvent",
      "POST",
      "/event-streams/:id/redeliver/:event_id",
      "update:event_deliveries",
      "400 401 403 404 409 429"
    ],
    ["deleteEventStream", "DELETE", "/event-streams/:id", "delete:event_streams", "400 401 403 429"]
  ]
  /** From the vendor's public OpenAPI document; the contract does not have them. */
  const beyond = [
    ["getJob", "GET", "/jobs/:id", "create:users read:users", "400 401 403 404 429"],
    [
      "listTokenExchangeProfiles",
      "GET",
      "/token-exchange-profiles",
      "read:token_exchange_profiles",
      "400 401 403 429"
    ],
    [
      "getTokenExchangeProfile",
      "GET",
      "/token-exchange-profiles/:id",
      "read:token_exchange_profiles",
      "400 401 403 404 429"
    ],
    ["listActions", "GET", "/actions/actions", "read:actions", "400 401 403 429"],
    ["getAction", "GET", "/actions/actions/:id", "read:actions", "400 401 403 404 429"],
    ["getActionVersion", "GET", "/actions/actions/:actionId/versions/:id", "read:actions", "400 401 403 404 429"],
    [
      "deployActionVersion",
      "POST",
      "/actions/actions/:actionId/versions/:id/deploy",
      "create:actions",
      "400 401 403 404 429"
    ],
    ["listEventStreams", "GET", "/event-streams", "read:event_streams", "400 401 403 429"],
    ["getEventStream", "GET", "/event-streams/:id", "read:event_streams", "400 401 403 404 429"],
    [
      "listDeliveries",
      "GET",
      "/event-streams/:id/deliveries",
      "read:event_streams read:event_deliveries",
      "400 401 403 404 429"
    ],
    [
      "getDelivery",
      "GET",
      "/event-streams/:id/deliveries/:event_id",
      "read:event_deliveries",
      "400 401 403 404 429"
    ],
    [
      "redeliverEvents",
      "POST",
      "/event-streams/:id/redeliver",
      "update:event_deliveries",
      "400 401 403 404 409 429"
    ]
  ]
  const all = [...contract, ...beyond]
  const own = operations.map(({ endpoint }) => endpoint).map((endpoint) => [
    endpoint.name,
    endpoint.method,
    endpoint.path,
    scopesOf(endpoint).join(" "),
    [...new Set(endpoint.error.map(({ status }) => status))].sort().join(" ")
  ])

  it.each(all.map((row) => [row[0], row] as const))("%s", (name, row) => {
    assert.deepStrictEqual(own.find(([own]) => own === name), [...row])
  })

  it("JSON Schema has their identifiers, lengths and limits", () => {
    const all = Schema.Struct({
      job: UsersExportJob,
      versions: ActionVersions,
      profile: TokenExchangeProfile,
      type: updateTokenExchangeProfile.endpoint.input,
      export: createUsersExport.endpoint.input
    })
    const { definitions, schema } = makeJsonSchema(all, true)!
    const { properties } = schema as { readonly properties: Readonly<Record<string, object>> }
    assert.deepStrictEqual(Object.keys(definitions).sort(), [
      "ActionVersion",
      "ActionVersions",
      "TokenExchangeProfile",
      "TriggerDescriptor",
      "UsersExportJob"
    ])
    assert.deepNestedInclude(properties["type"]!, {
      "properties.subject_token_type.format": "uri",
      "properties.name.minLength": 3,
      "properties.name.maxLength": 50
    })
    assert.deepNestedInclude(properties["export"]!, {
      "properties.limit.type": "integer",
      "properties.limit.minimum": 1
    })
  })

  it("there are no others", () => {
    assert.sameMembers(own.map(([name]) => name), all.map(([name]) => name))
  })
})

describe("successful responses", () => {
  it.effect("createUsersExport: 200, the job", () =>
    Effect.gen(function*() {
      const body = {
        ...job,
        created_at: "2024-02-08T12:41:33.123Z",
        format: "csv",
        limit: 5,
        fields: [{ name: "email" }]
      }
      const [found, sent] = yield* decoded(createUsersExport, body)
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("updateTokenExchangeProfile: 200, the full profile", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* decoded(updateTokenExchangeProfile, profile)
      assert.deepStrictEqual(found, sent)
    }))

  it.effect.each(["", "\"\"", "null", " "])(
    "updateTokenExchangeProfile: 200 with the body %j returns undefined",
    (body) =>
      Effect.gen(function*() {
        const found = yield* resultOf(updateTokenExchangeProfile, sample(updateTokenExchangeProfile), bare(body))
        assert.strictEqual(found, undefined)
      })
  )

  it.effect("updateTokenExchangeProfile: 200 with {} returns an empty profile", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* decoded(updateTokenExchangeProfile, {})
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("listActionVersions: 200, a page", () =>
    Effect.gen(function*() {
      const body = {
        total: 21,
        page: 1,
        per_page: 20,
        versions: [{ id: "1", number: 1, deployed: true, status: "built" }]
      }
      const [found, sent] = yield* decoded(listActionVersions, body)
      assert.deepStrictEqual(found, sent)
    }))

  it.effect.each([[202, "{}"], [200, ""], [200, "\"\""]] as const)(
    "redeliverEvent: %i with %j",
    ([status, body]) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* resultOf(redeliverEvent, sample(redeliverEvent), bare(body, status)), undefined)
      })
  )

  it.effect.each([204, 200])(
    "deleteEventStream: %i without a body, but with content type application/json",
    (status) =>
      Effect.gen(function*() {
        const reply = Testing.reply({ status, headers: { "content-type": "application/json; charset=utf-8" } })
        assert.strictEqual(yield* resultOf(deleteEventStream, sample(deleteEventStream), reply), undefined)
      })
  )

  it.effect.each(["", "{}", "\"\"", "null", "{\"id\":1}", "OK", "1 < 2", "[1"])(
    "accepts the body %j for operations without a success schema",
    (body) =>
      Effect.gen(function*() {
        for (const operation of [redeliverEvent, deleteEventStream] as ReadonlyArray<Subject>) {
          assert.strictEqual(yield* resultOf(operation, sample(operation), bare(body)), undefined)
        }
      })
  )

  it.effect("decodes JSON without a content type", () =>
    Effect.gen(function*() {
      const found = yield* resultOf(createUsersExport, {}, bare(JSON.stringify(job)))
      assert.deepStrictEqual(found, job)
    }))
})

describe("unusual fields", () => {
  it.effect.each(["2023-01-25T17:42:12.004394259Z", "2023-01-25T17:42:12.004Z", "2023-01-25T17:42:12Z"])(
    "keeps the timestamp %s unchanged, in any field",
    (at) =>
      Effect.gen(function*() {
        const version = {
          built_at: at,
          created_at: at,
          updated_at: at,
          secrets: [{ name: "KEY", updated_at: at }],
          action: { created_at: at, updated_at: at }
        }
        const found = [
          yield* decoded(listActionVersions, page(version)),
          yield* decoded(createUsersExport, { ...job, created_at: at }),
          yield* decoded(updateTokenExchangeProfile, { ...profile, created_at: at, updated_at: at })
        ]
        assert.deepStrictEqual(found.map(([found]) => found), found.map(([, sent]) => sent))
      })
  )

  it.effect("keeps a page without `page` and `total`, which the service omits if they are 0", () =>
    Effect.gen(function*() {
      const [found] = yield* decoded(listActionVersions, { per_page: 20, versions: [] })
      assert.notProperty(found, "page")
      assert.notProperty(found, "total")
    }))

  it.effect.each(["per_page", "versions"])(
    "names `%s` if a page lacks it",
    (name) =>
      Effect.gen(function*() {
        const body = { ...page({}), [name]: undefined }
        const error = yield* failed(listActionVersions, { actionId }, json(body))
        assert.instanceOf(error, Errors.UnexpectedResponse)
        assert.deepInclude(error, { reason: "schema", path: name })
      })
  )

  it.effect("can request the first page, which is 0", () =>
    Effect.gen(function*() {
      const { url } = yield* sentOne(listActionVersions, { actionId, page: 0 })
      assert.isTrue(url.endsWith("/versions?page=0"))
    }))

  it.effect("accepts fractions as counts", () =>
    Effect.gen(function*() {
      const body = {
        total: 1.1,
        page: 1.1,
        per_page: 1.1,
        versions: [{ number: 1.1, modules: [{ module_version_number: 1.1 }] }]
      }
      const [found, sent] = yield* decoded(listActionVersions, body)
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("accepts a trigger with only id and version", () =>
    Effect.gen(function*() {
      const trigger = { id: "post-login", version: "v3" }
      const [found, sent] = yield* decoded(
        listActionVersions,
        page({ supported_triggers: [trigger], action: { supported_triggers: [trigger] } })
      )
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("accepts newer triggers with more fields", () =>
    Effect.gen(function*() {
      const trigger = {
        id: "post-login",
        version: "v3",
        binding_policy: "trigger-bound",
        compatible_triggers: [{ version: "v2" }],
        x: [1]
      }
      const [found, sent] = yield* decoded(listActionVersions, page({ supported_triggers: [trigger] }))
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("accepts an empty version", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* decoded(listActionVersions, page({}))
      assert.deepStrictEqual(found, sent)
    }))

  it.effect.each(["dependencies", "secrets", "errors", "modules", "supported_triggers"])(
    "accepts [] and [{}] as `%s`",
    (name) =>
      Effect.gen(function*() {
        for (const list of [[], [{}]]) {
          const [found, sent] = yield* decoded(listActionVersions, page({ [name]: list }))
          assert.deepStrictEqual(found, sent)
        }
      })
  )

  it.effect.each(["pending", "building", "packaged", "built", "retrying", "failed", "BUILT", "a new one"])(
    "keeps the status %j of a version unchanged",
    (status) =>
      Effect.gen(function*() {
        const [found, sent] = yield* decoded(listActionVersions, page({ status }))
        assert.deepStrictEqual(found, sent)
      })
  )

  it.effect.each(["a name", undefined, { id: "con_1" }])(
    "accepts %s as the job's connection",
    (connection) =>
      Effect.gen(function*() {
        const { connection: _, ...rest } = job
        const body = connection === undefined ? rest : { ...rest, connection }
        const [found, sent] = yield* decoded(createUsersExport, body)
        assert.deepStrictEqual(found, sent)
      })
  )

  it.effect("accepts only strings as enumeration values", () =>
    Effect.gen(function*() {
      const error = yield* failed(createUsersExport, {}, json({ ...job, type: 7 }))
      assert.deepInclude(error, {
        path: "type",
        message:
          "createUsersExport: status 200 from tenant.example.com: the change was carried out, but its response cannot be used: unexpected response body at type: expected a string"
      })
    }))

  it.effect("keeps fields of the job that the contract does not list", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* decoded(createUsersExport, {
        ...job,
        location: "https://…",
        nested: { a: [null, { b: 1 }] }
      })
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("removes the null of an optional field, at any depth", () =>
    Effect.gen(function*() {
      const version = {
        id: "1",
        built_at: null,
        errors: null,
        dependencies: [{ name: "lodash", registry_url: null }],
        action: { id: "2", supported_triggers: [{ id: null, version: "v3" }], created_at: null }
      }
      const [found] = yield* decoded(listActionVersions, { ...page(version), page: null })
      assert.deepStrictEqual(
        found,
        page({
          id: "1",
          dependencies: [{ name: "lodash" }],
          action: { id: "2", supported_triggers: [{ version: "v3" }] }
        })
      )
    }))

  it.effect("removes null as the job's connection, which has no documented type", () =>
    Effect.gen(function*() {
      const [found] = yield* decoded(createUsersExport, { ...job, connection: null })
      assert.notProperty(found, "connection")
    }))

  it.effect("keeps the null of an unknown field, also beside a removed one", () =>
    Effect.gen(function*() {
      const [found] = yield* decoded(createUsersExport, { ...job, created_at: null, unlisted: null })
      assert.deepStrictEqual(found, { ...job, unlisted: null })
    }))

  it.effect("names a required field that is null", () =>
    Effect.gen(function*() {
      const error = yield* failed(createUsersExport, {}, json({ ...job, status: null, created_at: null }))
      assert.deepInclude(error, { reason: "schema", path: "status" })
    }))
})

describe("decoding", () => {
  const withSuccess = operations.filter(({ endpoint }) => endpoint.success !== undefined)

  /** Valid values of an operation's success, as JSON. */
  const values = ({ endpoint }: Subject): FastCheck.Arbitrary<unknown> =>
    arbitraryOf(endpoint.success as Schema.Schema<unknown>)
      .map((value) => JSON.parse(JSON.stringify(value) ?? "null") as unknown)
      .filter((value) => value !== null && ParseResult.is(endpoint.success!)(value))

  /** Sets every absent optional field to null. */
  const withNulls = (node: SchemaNode, value: unknown): unknown => {
    switch (node._tag) {
      case "Lazy":
        return withNulls(node.get(), value)
      case "Refinement":
        return withNulls(node.from, value)
      case "Union":
        return node.types.reduce((value, type) => withNulls(type, value), value)
      case "Array":
        return Array.isArray(value) ? value.map((item) => withNulls(node.rest[0]!, item)) : value
      case "Struct": {
        if (Array.isArray(value)) return value
        const copy = { ...value as Record<PropertyKey, unknown> }
        for (const { isOptional, name, type } of node.fields) {
          if (name in copy) copy[name] = withNulls(type, copy[name])
          else if (isOptional) copy[name] = null
        }
        return copy
      }
      default:
        return value
    }
  }

  /** `roundTrip.test.ts` tries more values of each operation, where only some of the absent fields are null. */
  const runs = 30

  for (const operation of withSuccess) {
    const { name } = operation.endpoint

    it.effect(`${name}: returns the parsed object itself if it is valid`, () =>
      forAll(values(operation), (value) =>
        Effect.gen(function*() {
          const parse = yield* Effect.acquireRelease(
            Effect.sync(() => vi.spyOn(JSON, "parse")),
            (spy) => Effect.sync(() => spy.mockRestore())
          )
          const found = yield* resultOf(operation, sample(operation), bare(JSON.stringify(value)))
          assert.strictEqual(found, parse.mock.results[0]?.value)
          assert.deepStrictEqual(found, value)
        }).pipe(Effect.scoped), runs))

    it.effect(`${name}: removes the nulls of optional fields`, () =>
      forAll(values(operation), (value) =>
        Effect.gen(function*() {
          const nulls = withNulls(fromSchema(operation.endpoint.success!), value)
          assert.deepStrictEqual(yield* resultOf(operation, sample(operation), json(nulls)), value)
        }), runs))
  }
})

describe("an optional field of a response", () => {
  const rows: ReadonlyArray<readonly [name: string, schema: Schema.Schema.AnyNoContext, value: object]> = [
    ["limit", UsersExportJob, { id: "1", type: "t", status: "s" }],
    ["name", TokenExchangeProfile, {}],
    ["page", ActionVersions, { total: 0, per_page: 20, versions: [] }]
  ]
  for (const [name, schema, value] of rows) {
    it(`is absent or has a value, but is never undefined: ${name}`, () => {
      const is = ParseResult.is(schema)
      assert.deepStrictEqual([value, { ...value, [name]: undefined }].map((value) => is(value)), [true, false])
    })
  }
})

describe("requests", () => {
  it.effect("an export without input sends an empty object, without default values", () =>
    Effect.gen(function*() {
      assert.strictEqual(bodyOf(yield* sentOne(createUsersExport, {})), "{}")
    }))

  it.effect.each([{}, { name: undefined, subject_token_type: undefined }])(
    "refuses a profile update with %j",
    (change) =>
      Effect.gen(function*() {
        const error = yield* failed(updateTokenExchangeProfile, { id, ...change }, json({}))
        assert.instanceOf(error, Errors.InvalidInput)
        assert.deepStrictEqual((error as Errors.InvalidInput).issues, [
          { path: "name, subject_token_type", message: "at least 1 must be set" }
        ])
        assert.lengthOf(yield* sent(updateTokenExchangeProfile, { id, ...change }), 0)
      })
  )

  it.effect.each(["https://acme.example.com/token", "urn:acme:legacy", "acme:token"])(
    "sends the subject_token_type %s",
    (subject_token_type) =>
      Effect.gen(function*() {
        const request = yield* sentOne(updateTokenExchangeProfile, { id, subject_token_type })
        assert.deepStrictEqual(JSON.parse(bodyOf(request) ?? ""), { subject_token_type })
      })
  )

  it.effect("a reserved prefix of a subject_token_type is the service's BadRequest", () =>
    Effect.gen(function*() {
      const reply = problem(400, "Bad Request", "The prefix is reserved.", "invalid_body")
      assert.instanceOf(yield* failed(updateTokenExchangeProfile, { id, name: "A name" }, reply), Errors.BadRequest)
    }))

  it.effect.each(["est_1234567890123456789012", "x".repeat(26), "🙂".repeat(26)])(
    "sends the id %s of 26 characters",
    (id) =>
      Effect.gen(function*() {
        const { url } = yield* sentOne(deleteEventStream, { id })
        assert.isTrue(url.endsWith(`/event-streams/${encodeURIComponent(id)}`))
      })
  )

  it.effect.each([0, 1, 25, 27, 52])("refuses an id of %i characters", (length) =>
    Effect.gen(function*() {
      const wrong = "x".repeat(length)
      const issue = (path: string) => ({ path, message: "expected a string of exactly 26 characters" })
      const one = yield* failed(deleteEventStream, { id: wrong }, json({}))
      const both = yield* failed(redeliverEvent, { id: wrong, event_id: wrong }, json({}))
      assert.deepStrictEqual((one as Errors.InvalidInput).issues, [issue("id")])
      assert.deepStrictEqual((both as Errors.InvalidInput).issues, [issue("id"), issue("event_id")])
    }))

  it.effect("percent-encodes / ? # and % in a path parameter", () =>
    Effect.gen(function*() {
      const { url } = yield* sentOne(listActionVersions, { actionId: "a/b?c#d%e" })
      assert.isTrue(url.endsWith("/actions/actions/a%2Fb%3Fc%23d%25e/versions"))
    }))

  it.effect.each(["", ".", ".."])(
    "refuses %j as a path parameter: it would change the route",
    (actionId) =>
      Effect.gen(function*() {
        const error = yield* failed(listActionVersions, { actionId }, json({}))
        assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ path }) => path), ["actionId"])
        assert.include((error as Errors.InvalidInput).message, "not empty, \".\" or \"..\"")
      })
  )

  it.effect("a redelivery has no body and no content type", () =>
    Effect.gen(function*() {
      const request = yield* sentOne(redeliverEvent, { id, event_id })
      assert.strictEqual(request.body._tag, "Empty")
      assert.notProperty(request.headers, "content-type")
    }))
})

describe("limits of the contract", () => {
  const accepted = (operation: Subject, input: object) =>
    Effect.map(sent(operation, input), (requests) => requests.length === 1)

  it.effect.each(
    [
      ["con_0123456789abcdEF", true],
      ["con_0123456789abcdE", false],
      ["con_0123456789abcdEFG", false],
      ["con_0123456789abcde-", false],
      ["con_0123456789abcdEF\n", false],
      ["xcon_0123456789abcdEF", false]
    ] as const
  )("connection_id %j: %s", ([connection_id, fine]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* accepted(createUsersExport, { connection_id }), fine)
    }))

  it.effect.each([["json", true], ["csv", true], ["JSON", false], ["xml", false], ["", false]] as const)(
    "format %j: %s",
    ([format, fine]) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* accepted(createUsersExport, { format }), fine)
      })
  )

  it.effect.each(
    [[1, true], [2 ** 40, true], [0, false], [-1, false], [1.5, false], [NaN, false], [Infinity, false]] as const
  )(
    "limit %d: %s",
    ([limit, fine]) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* accepted(createUsersExport, { limit }), fine)
      })
  )

  it.effect.each([[0, true], [100, true], [101, false]] as const)(
    "a field's name and title of %i characters, surrogate pairs counted once: %s",
    ([length, fine]) =>
      Effect.gen(function*() {
        const text = "🙂".repeat(length)
        assert.strictEqual(yield* accepted(createUsersExport, { fields: [{ name: text }] }), fine)
        assert.strictEqual(yield* accepted(createUsersExport, { fields: [{ name: "x", export_as: text }] }), fine)
      })
  )

  it.effect("names invalid fields within a list by their paths", () =>
    Effect.gen(function*() {
      const fields = [{ name: "ok" }, { name: "x".repeat(101) }, { export_as: "no name" }, { name: "ok", title: "" }]
      const error = yield* failed(createUsersExport, { fields }, json({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues, [
        { path: "fields[1].name", message: "expected a string of at most 100 characters" },
        { path: "fields[2].name", message: "is missing" },
        { path: "fields[3].title", message: "unknown field" }
      ])
    }))

  it.effect.each(
    [
      [createUsersExport, { connection_id: "con_" }, "a string that matches ^con_[A-Za-z0-9]{16}$"],
      [createUsersExport, { limit: 0 }, "an integer of at least 1"],
      [updateTokenExchangeProfile, { id, name: "" }, "a string of 3 to 50 characters"],
      [updateTokenExchangeProfile, { id, subject_token_type: "no scheme" }, "a URI of 8 to 100 characters"],
      [deleteEventStream, { id: "x" }, "a string of exactly 26 characters"]
    ] as const
  )("%#: the message says what is expected", ([operation, input, message]) =>
    Effect.gen(function*() {
      const error = yield* failed(operation, input, json({}))
      assert.deepStrictEqual((error as Errors.InvalidInput).issues.map(({ message }) => message), [
        `expected ${message}`
      ])
    }))

  it.effect.each([[2, false], [3, true], [50, true], [51, false]] as const)(
    "a profile's name of %i characters: %s",
    ([length, fine]) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* accepted(updateTokenExchangeProfile, { id, name: "é".repeat(length) }), fine)
      })
  )

  it.effect.each(
    [
      ["urn:123", false],
      ["urn:1234", true],
      [`urn:${"1".repeat(96)}`, true],
      [`urn:${"1".repeat(97)}`, false],
      ["no-scheme-here", false],
      ["urn:with space", false],
      ["urn:with-%-alone", false],
      ["urn:with-%C3%A9", true],
      ["1rn:digit-first", false],
      ["urn:é-is-no-uri", false]
    ] as const
  )("subject_token_type %j: %s", ([subject_token_type, fine]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* accepted(updateTokenExchangeProfile, { id, subject_token_type }), fine)
    }))

  it.effect.each([[0, true], [7, true], [-1, false], [0.5, false]] as const)(
    "page and per_page %d: %s",
    ([value, fine]) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* accepted(listActionVersions, { actionId, page: value }), fine)
        assert.strictEqual(yield* accepted(listActionVersions, { actionId, per_page: value }), fine)
      })
  )
})

describe("failures", () => {
  it.effect.each(
    [
      [createUsersExport, 400, "Bad Request", "Payload validation error", "invalid_body", Errors.BadRequest],
      [createUsersExport, 400, "Bad Request", "Query validation error", "validation_error", Errors.BadRequest],
      [createUsersExport, 400, "Bad Request", "Bad HTTP authentication header format", undefined, Errors.BadRequest],
      [createUsersExport, 401, "Unauthorized", "Invalid token", undefined, Errors.Unauthorized],
      [
        createUsersExport,
        401,
        "Unauthorized",
        "Expired token received for JSON Web Token validation",
        undefined,
        Errors.Unauthorized
      ],
      [createUsersExport, 401, "Unauthorized", "Client is not global", undefined, Errors.Unauthorized],
      [createUsersExport, 403, "Forbidden", "This feature is not enabled", "feature_not_enabled", Errors.Forbidden],
      [redeliverEvent, 404, "Not Found", "The requested stream does not exist.", undefined, Errors.NotFound],
      [
        updateTokenExchangeProfile,
        409,
        "Conflict",
        "A profile with this subject_token_type exists",
        undefined,
        Errors.Conflict
      ],
      [
        redeliverEvent,
        409,
        "Conflict",
        "The event is not in a state that allows redelivery",
        undefined,
        Errors.Conflict
      ],
      [
        deleteEventStream,
        429,
        "Too Many Requests",
        "Global limit has been reached",
        "too_many_requests",
        Errors.RateLimited
      ]
    ] as ReadonlyArray<readonly [Subject, number, string, string, string | undefined, Errors.ErrorClass]>
  )(
    "%#: a recorded failure",
    ([operation, status, phrase, message, errorCode, Expected]) =>
      Effect.gen(function*() {
        const input = operation === createUsersExport ? {} : sample(operation)
        const reply = problem(status, phrase, message, errorCode, { attributes: { error: "more" } })
        const error = yield* failed(operation, input, reply)
        assert.instanceOf(error, Expected)
        const { errorCode: code, message: words } = error as Errors.ErrorDetails
        assert.deepStrictEqual([words, code], [`${operation.endpoint.name}: ${message}`, errorCode])
      })
  )

  it.effect("reads a 429 with an OAuth body: the code from `error`, the message from `error_description`", () =>
    Effect.gen(function*() {
      const body = { error: "too_many_requests", error_description: "Global limit has been reached" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 429, body }))
      assert.deepInclude(error, { errorCode: "too_many_requests" })
      assert.strictEqual((error as Errors.RateLimited).message, "createUsersExport: Global limit has been reached")
    }))

  it.effect("reads a body with code and description", () =>
    Effect.gen(function*() {
      const body = { code: "a_code", description: "Some words" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))
      assert.deepInclude(error, { errorCode: "a_code" })
      assert.strictEqual((error as Errors.BadRequest).message, "createUsersExport: Some words")
    }))

  it.effect("uses the reason phrase as the message if there is no other, and never as the code", () =>
    Effect.gen(function*() {
      const body = { statusCode: 400, error: "Bad Request" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))
      assert.notProperty(error, "errorCode")
      assert.strictEqual((error as Errors.BadRequest).message, "createUsersExport: Bad Request")
    }))

  it.effect.each(
    [
      [
        "<html><head><title> 502 Bad\nGateway </title></head></html>",
        "text/html",
        "a web page titled \"502 Bad Gateway\""
      ],
      ["<html></html>", "text/html", ""],
      ["{\"statusCode\":400,\"mess", "application/json", ""],
      ["", "application/json", ""],
      ["upstream connect error", "text/plain", ""],
      ["{\"a\":1,\"b\":{\"c\":2}}", "application/json", "an object of a, b"],
      ["[1,2,3]", "application/json", "a list of 3"],
      ["\"text\"", "application/json", ""]
    ] as const
  )(
    "describes the body %j by its shape, and goes by the status",
    ([body, contentType, detail]) =>
      Effect.gen(function*() {
        const reply = (status: number) => Testing.reply({ status, headers: { "content-type": contentType }, body })
        const shape = `${contentType}, ${body.length} bytes${detail === "" ? "" : `, ${detail}`}`
        const declared = yield* failed(createUsersExport, {}, reply(400))
        const other = yield* failed(createUsersExport, {}, reply(502))
        assert.instanceOf(declared, Errors.BadRequest)
        assert.strictEqual((declared as Errors.BadRequest).message, `createUsersExport: no message (${shape})`)
        assert.instanceOf(other, Errors.UnexpectedResponse)
        assert.deepInclude(other, { status: 502, reason: "status", shape, contentType })
      })
  )

  it.effect("ignores code and message fields of unexpected types", () =>
    Effect.gen(function*() {
      const body = { statusCode: "400", error: 7, message: { a: 1 }, errorCode: null, code: [], description: "" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))
      assert.notProperty(error, "errorCode")
      assert.match(
        (error as Errors.BadRequest).message,
        /^createUsersExport: no message \(application\/json, \d+ bytes, an object of statusCode/
      )
    }))
})

describe("403", () => {
  const forbidden = (body: unknown, headers: Record<string, string> = {}) =>
    failed(createUsersExport, {}, Testing.reply({ status: 403, headers, body }))
  const required = (error: unknown) => error instanceof Errors.InsufficientScope ? error.required : error

  it.effect("with `errorCode` insufficient_scope is InsufficientScope; `required` lists the scopes in the message", () =>
    Effect.gen(function*() {
      const message = "Insufficient scope, expected any of: read:users, create:users_exports"
      const error = yield* forbidden({ statusCode: 403, error: "Forbidden", message, errorCode: "insufficient_scope" })
      assert.deepStrictEqual(required(error), ["read:users", "create:users_exports"])
    }))

  it.effect("with a message of insufficient scope is InsufficientScope", () =>
    Effect.gen(function*() {
      const error = yield* forbidden({ message: "Insufficient scope, expected any of: read:users" })
      assert.deepStrictEqual(required(error), ["read:users"])
    }))

  it.effect("with an OAuth body is InsufficientScope, too", () =>
    Effect.gen(function*() {
      const error = yield* forbidden({ error: "insufficient_scope", error_description: "Scope read:users missing" })
      assert.deepStrictEqual(required(error), ["read:users"])
    }))

  it.effect("takes `required` from WWW-Authenticate if the message has no scopes", () =>
    Effect.gen(function*() {
      const error = yield* forbidden(
        { errorCode: "insufficient_scope" },
        {
          "WWW-Authenticate":
            "Bearer realm=\"x\", error=\"insufficient_scope\", scope=\"read:users read:user_idp_tokens\""
        }
      )
      assert.deepStrictEqual(required(error), ["read:users", "read:user_idp_tokens"])
    }))

  it.effect("is Forbidden if the response has no scopes, as of a plan without the feature", () =>
    Effect.forEach(operations, (operation) =>
      Effect.gen(function*() {
        const message = "Please upgrade your subscription to use this feature"
        const reply = Testing.reply({ status: 403, body: { errorCode: "insufficient_scope", message } })
        assert.instanceOf(yield* failed(operation, sample(operation), reply), Errors.Forbidden)
      })))

  it.effect.each([
    { message: "This feature is not enabled", errorCode: "feature_not_enabled" },
    { message: "You have insufficient scope of action" },
    {},
    "<html></html>"
  ])("with %j is Forbidden", (body) =>
    Effect.gen(function*() {
      assert.instanceOf(yield* forbidden(body), Errors.Forbidden)
    }))
})

describe("an error class", () => {
  it.effect("sees a missing scope only with 403, and the operation's own scope otherwise", () =>
    Effect.gen(function*() {
      const seen: Array<Errors.ErrorResponse> = []
      class Odd extends Errors.statusError("Odd", 400) {
        static override matches(response: Errors.ErrorResponse) {
          return seen.push(response) > 0
        }
      }
      const odd = Operation.make("odd", () => ({
        method: "GET",
        path: "/odd",
        scope: "read:odd",
        idempotent: true,
        error: [Odd, Errors.RateLimited]
      }))
      const body = { errorCode: "insufficient_scope", message: "Insufficient scope: read:users" }
      assert.instanceOf(yield* failed(odd, {}, Testing.reply({ status: 400, body })), Odd)
      assert.deepStrictEqual(seen.map(({ insufficientScope, required }) => ({ required, insufficientScope })), [
        { required: ["read:odd"], insufficientScope: false }
      ])
    }))
})

describe("rate limits", () => {
  const limited = (headers: Record<string, string>) =>
    Effect.map(
      failed(
        createUsersExport,
        {},
        Testing.reply({ status: 429, headers, body: { message: "Global limit has been reached" } })
      ),
      (error) => error as Errors.RateLimited
    )

  it.effect.each(["X-RateLimit-", "x-ratelimit-", "X-RATELIMIT-", "X-Ratelimit-"])(
    "reads the headers %s*",
    (prefix) =>
      Effect.gen(function*() {
        const { limit, remaining, resetAt, source } = yield* limited({
          [`${prefix}Limit`]: "50",
          [`${prefix}Remaining`]: "0",
          [`${prefix}Reset`]: "1700000000"
        })
        assert.deepStrictEqual(
          { limit, remaining, resetAt: resetAt && DateTime.formatIso(resetAt), source },
          { limit: 50, remaining: 0, resetAt: "2023-11-14T22:13:20.000Z", source: "service" }
        )
      })
  )

  it.effect("withResponse returns the rate-limit headers of a success", () =>
    Effect.gen(function*() {
      const { response } = yield* IdentityClient.withResponse(deleteEventStream({ id })).pipe(
        Effect.provide(scripted(Testing.reply({ status: 204, headers: { "X-RateLimit-Remaining": "9" } })))
      )
      assert.strictEqual(Option.getOrThrow(response).headers["x-ratelimit-remaining"], "9")
    }))

  it.effect("a reset in the past is a time like any other, without a wait", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      for (const reset of [1_700_000_000, 1_600_000_000]) {
        const error = yield* limited({ "x-ratelimit-reset": String(reset) })
        assert.strictEqual(error.resetAt && DateTime.toEpochMillis(error.resetAt), reset * 1000)
        assert.notProperty(error, "retryAfter")
      }
    }))

  it.effect.each(["", "soon", "-1", "1.5", "99999999999999999999", "999999999999999"])(
    "ignores a reset of %j",
    (reset) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* limited({ "x-ratelimit-reset": reset })).resetAt, undefined)
      })
  )

  it.effect.each([["7", 7000], [" 7 ", 7000], ["0", 0], ["86400", 86_400_000]] as const)(
    "Retry-After %j is %i ms",
    ([value, millis]) =>
      Effect.gen(function*() {
        const { retryAfter } = yield* limited({ "retry-after": value })
        assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), millis)
      })
  )

  it.effect("counts a Retry-After date from the response's own date, whatever the local clock shows", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000_000_000)
      const { retryAfter } = yield* limited({
        "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT",
        date: "Tue, 14 Nov 2023 22:13:20 GMT"
      })
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 30_000)
    }))

  it.effect("counts a Retry-After date from the local clock if the response has no date", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const { retryAfter } = yield* limited({ "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT" })
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 30_000)
    }))

  it.effect("a Retry-After date in the past is no wait", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const { retryAfter } = yield* limited({ "retry-after": "Tue, 14 Nov 2023 22:13:00 GMT" })
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 0)
    }))

  it.effect.each(["", "soon", "-5", "1.5"])("ignores Retry-After %j", (value) =>
    Effect.gen(function*() {
      assert.notProperty(yield* limited({ "retry-after": value }), "retryAfter")
    }))

  it.effect("reads Retry-After from other failures, too", () =>
    Effect.gen(function*() {
      const reply = Testing.reply({ status: 503, headers: { "retry-after": "7" } })
      const { retryAfter } = (yield* failed(createUsersExport, {}, reply)) as Errors.UnexpectedResponse
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 7000)
    }))
})

describe("the declarations", () => {
  it("have idempotent and items as documented", () => {
    assert.deepStrictEqual(
      operations.map(({ endpoint: { idempotent, items, name } }) => [name, idempotent, items]).sort(),
      [
        ["createUsersExport", false, undefined],
        ["deleteEventStream", true, undefined],
        ["deployActionVersion", false, undefined],
        ["getAction", true, undefined],
        ["getActionVersion", true, undefined],
        ["getDelivery", true, undefined],
        ["getEventStream", true, undefined],
        ["getJob", true, undefined],
        ["getTokenExchangeProfile", true, undefined],
        ["listActionVersions", true, "versions"],
        ["listActions", true, "actions"],
        ["listDeliveries", true, "deliveries"],
        ["listEventStreams", true, "eventStreams"],
        ["listTokenExchangeProfiles", true, "token_exchange_profiles"],
        ["redeliverEvent", false, undefined],
        ["redeliverEvents", false, undefined],
        ["updateTokenExchangeProfile", true, undefined]
      ]
    )
  })
})

describe("an operation that is not idempotent", () => {
  it.effect.each([500, 502, 503, 504])(
    "is not retried after %i",
    (status) =>
      Effect.forEach(
        operations.filter(({ endpoint }) => !endpoint.idempotent),
        (operation) =>
          Effect.gen(function*() {
            yield* Effect.exit(operation(sample(operation) as never))
            assert.lengthOf(yield* Testing.requests, 1)
          }).pipe(Effect.provide(scripted(Testing.reply({ status }), Testing.reply({}))))
      )
  )

  it.effect("is not retried after a broken connection", () =>
    Effect.forEach(
      operations.filter(({ endpoint }) => !endpoint.idempotent),
      (operation) =>
        Effect.gen(function*() {
          yield* Effect.exit(operation(sample(operation) as never))
          assert.lengthOf(yield* Testing.requests, 1)
        }).pipe(Effect.provide(scripted(Testing.noReply("ECONNRESET"), Testing.reply({}))))
    ))
})

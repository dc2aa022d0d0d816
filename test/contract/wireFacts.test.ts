/** What the wire really looks like, row by row, as far as the client alone can show it. */
import { assert, describe, it, vi } from "@effect/vitest"
import {
  Arbitrary,
  DateTime,
  Duration,
  Effect,
  type FastCheck,
  JSONSchema,
  Option,
  ParseResult,
  Schema,
  type SchemaAST as AST,
  TestClock
} from "effect"
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
import * as Testing from "../../src/Testing.js"
import { forAll } from "../support/arbitraries.js"
import { bodyOf, failed, resultOf, scripted, sent, sentOne } from "../support/client.js"
import { operations, sample, type Subject } from "../support/operations.js"

const id = "est_1234567890123456789012"
const event_id = "evt_1234567890123456789012"
const actionId = "910b1053-577f-4d81-a8c8-020e7319a38a"

const json = (value: unknown) => Testing.reply({ body: value })

/** Bytes are sent as they are, without the content type that a text would get. */
const bare = (text: string, status = 200) => Testing.reply({ status, body: new TextEncoder().encode(text) })

/** What an operation makes of a JSON body, next to that body. */
const received = <A>(operation: Subject, value: A) =>
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

describe("the operations are the contract's", () => {
  const contract = [
    ["createUsersExport", "POST", "/jobs/users-exports", "read:users", "400 401 403 429"],
    [
      "updateTokenExchangeProfile",
      "PATCH",
      "/token-exchange-profiles/:id",
      "update:token_exchange_profiles",
      "400 401 403 404 409 429"
    ],
    ["listActionVersions", "GET", "/actions/actions/:actionId/versions", "read:actions", "400 401 403 429"],
    [
      "redeliverEvent",
      "POST",
      "/event-streams/:id/redeliver/:event_id",
      "update:event_deliveries",
      "401 403 404 409 429"
    ],
    ["deleteEventStream", "DELETE", "/event-streams/:id", "delete:event_streams", "400 401 403 429"]
  ]
  const own = operations.map(({ endpoint: { error, method, name, path, scope } }) => [
    name,
    method,
    path,
    scope,
    [...new Set(error.map(({ status }) => status))].sort().join(" ")
  ])

  it.each(contract.map((row) => [row[0], row] as const))("%s", (name, row) => {
    assert.deepStrictEqual(own.find(([own]) => own === name), [...row])
  })

  it("they tell JSON Schema what their parts are called and how long they may be", () => {
    const { $defs = {}, properties } = JSONSchema.make(Schema.Struct({
      job: UsersExportJob,
      versions: ActionVersions,
      profile: TokenExchangeProfile,
      type: updateTokenExchangeProfile.endpoint.input,
      export: createUsersExport.endpoint.input
    })) as JSONSchema.JsonSchema7Object & { readonly $defs?: object }
    assert.deepStrictEqual(Object.keys($defs).sort(), [
      "ActionVersion",
      "ActionVersions",
      "TokenExchangeProfile",
      "TriggerDescriptor",
      "UsersExportJob"
    ])
    assert.deepNestedInclude(properties["type"], {
      "properties.subject_token_type.format": "uri",
      "properties.name.minLength": 3,
      "properties.name.maxLength": 50
    })
    assert.deepNestedInclude(properties["export"], {
      "properties.limit.type": "integer",
      "properties.limit.minimum": 1
    })
  })

  it("there is no other", () => {
    assert.deepStrictEqual(own.map(([name]) => name), contract.map(([name]) => name))
  })
})

describe("successful answers", () => {
  it.effect("createUsersExport: 200, the job", () =>
    Effect.gen(function*() {
      const body = {
        ...job,
        created_at: "2024-02-08T12:41:33.123Z",
        format: "csv",
        limit: 5,
        fields: [{ name: "email" }]
      }
      const [found, sent] = yield* received(createUsersExport, body)
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("updateTokenExchangeProfile: 200, the full profile", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* received(updateTokenExchangeProfile, profile)
      assert.deepStrictEqual(found, sent)
    }))

  it.effect.each(["", "\"\"", "null", " "])(
    "updateTokenExchangeProfile: 200 with %j for a body gives undefined",
    (body) =>
      Effect.gen(function*() {
        const found = yield* resultOf(updateTokenExchangeProfile, sample(updateTokenExchangeProfile), bare(body))
        assert.strictEqual(found, undefined)
      })
  )

  it.effect("updateTokenExchangeProfile: 200 with {} gives a profile without members", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* received(updateTokenExchangeProfile, {})
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
      const [found, sent] = yield* received(listActionVersions, body)
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
    "deleteEventStream: %i, empty, yet labelled application/json",
    (status) =>
      Effect.gen(function*() {
        const reply = Testing.reply({ status, headers: { "content-type": "application/json; charset=utf-8" } })
        assert.strictEqual(yield* resultOf(deleteEventStream, sample(deleteEventStream), reply), undefined)
      })
  )

  it.effect.each(["", "{}", "\"\"", "null", "{\"id\":1}", "OK", "1 < 2", "[1"])(
    "where no value is promised %j is fine",
    (body) =>
      Effect.gen(function*() {
        for (const operation of [redeliverEvent, deleteEventStream] as ReadonlyArray<Subject>) {
          assert.strictEqual(yield* resultOf(operation, sample(operation), bare(body)), undefined)
        }
      })
  )

  it.effect("JSON without a content type is JSON", () =>
    Effect.gen(function*() {
      const found = yield* resultOf(createUsersExport, {}, bare(JSON.stringify(job)))
      assert.deepStrictEqual(found, job)
    }))
})

describe("fields that surprise", () => {
  it.effect.each(["2023-01-25T17:42:12.004394259Z", "2023-01-25T17:42:12.004Z", "2023-01-25T17:42:12Z"])(
    "the timestamp %s stays as it came, wherever it stands",
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
          yield* received(listActionVersions, page(version)),
          yield* received(createUsersExport, { ...job, created_at: at }),
          yield* received(updateTokenExchangeProfile, { ...profile, created_at: at, updated_at: at })
        ]
        assert.deepStrictEqual(found.map(([found]) => found), found.map(([, sent]) => sent))
      })
  )

  it.effect("a page that omits `page` is given without it", () =>
    Effect.gen(function*() {
      const [found] = yield* received(listActionVersions, { total: 0, per_page: 20, versions: [] })
      assert.notProperty(found, "page")
    }))

  it.effect.each(["total", "per_page", "versions"])(
    "a page without `%s` is refused by that name",
    (name) =>
      Effect.gen(function*() {
        const body = { ...page({}), [name]: undefined }
        const error = yield* failed(listActionVersions, { actionId }, json(body))
        assert.instanceOf(error, Errors.UnexpectedResponse)
        assert.deepInclude(error, { reason: "schema", path: name })
      })
  )

  it.effect("the first page is 0, and can be asked for", () =>
    Effect.gen(function*() {
      const { url } = yield* sentOne(listActionVersions, { actionId, page: 0 })
      assert.isTrue(url.endsWith("/versions?page=0"))
    }))

  it.effect("counts may be fractions", () =>
    Effect.gen(function*() {
      const body = {
        total: 1.1,
        page: 1.1,
        per_page: 1.1,
        versions: [{ number: 1.1, modules: [{ module_version_number: 1.1 }] }]
      }
      const [found, sent] = yield* received(listActionVersions, body)
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("a trigger has an id, and often nothing but its version", () =>
    Effect.gen(function*() {
      const trigger = { id: "post-login", version: "v3" }
      const [found, sent] = yield* received(
        listActionVersions,
        page({ supported_triggers: [trigger], action: { supported_triggers: [trigger] } })
      )
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("newer triggers have a binding_policy and whatever else", () =>
    Effect.gen(function*() {
      const trigger = {
        id: "post-login",
        version: "v3",
        binding_policy: "trigger-bound",
        compatible_triggers: [{ version: "v2" }],
        x: [1]
      }
      const [found, sent] = yield* received(listActionVersions, page({ supported_triggers: [trigger] }))
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("a version may lack every member", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* received(listActionVersions, page({}))
      assert.deepStrictEqual(found, sent)
    }))

  it.effect.each(["dependencies", "secrets", "errors", "modules", "supported_triggers"])(
    "`%s` can be [] and [{}]",
    (name) =>
      Effect.gen(function*() {
        for (const list of [[], [{}]]) {
          const [found, sent] = yield* received(listActionVersions, page({ [name]: list }))
          assert.deepStrictEqual(found, sent)
        }
      })
  )

  it.effect.each(["pending", "building", "packaged", "built", "retrying", "failed", "BUILT", "a new one"])(
    "the status %j of a version stays as it is",
    (status) =>
      Effect.gen(function*() {
        const [found, sent] = yield* received(listActionVersions, page({ status }))
        assert.deepStrictEqual(found, sent)
      })
  )

  it.effect.each(["a name", undefined, { id: "con_1" }])(
    "the job's connection may be %s",
    (connection) =>
      Effect.gen(function*() {
        const { connection: _, ...rest } = job
        const body = connection === undefined ? rest : { ...rest, connection }
        const [found, sent] = yield* received(createUsersExport, body)
        assert.deepStrictEqual(found, sent)
      })
  )

  it.effect("a value of an enumeration is text, known or not", () =>
    Effect.gen(function*() {
      const error = yield* failed(createUsersExport, {}, json({ ...job, type: 7 }))
      assert.deepInclude(error, { path: "type", message: "unexpected response body at type: expected a string" })
    }))

  it.effect("members of the job that nobody listed are kept", () =>
    Effect.gen(function*() {
      const [found, sent] = yield* received(createUsersExport, {
        ...job,
        location: "https://…",
        nested: { a: [null, { b: 1 }] }
      })
      assert.deepStrictEqual(found, sent)
    }))

  it.effect("null is absent, wherever a member may be missing", () =>
    Effect.gen(function*() {
      const version = {
        id: "1",
        built_at: null,
        errors: null,
        dependencies: [{ name: "lodash", registry_url: null }],
        action: { id: "2", supported_triggers: [{ id: null, version: "v3" }], created_at: null }
      }
      const [found] = yield* received(listActionVersions, { ...page(version), page: null })
      assert.deepStrictEqual(
        found,
        page({
          id: "1",
          dependencies: [{ name: "lodash" }],
          action: { id: "2", supported_triggers: [{ version: "v3" }] }
        })
      )
    }))

  it.effect("null is absent also as the job's connection, whose type nobody states", () =>
    Effect.gen(function*() {
      const [found] = yield* received(createUsersExport, { ...job, connection: null })
      assert.notProperty(found, "connection")
    }))

  it.effect("null of a member that nobody listed is kept, also next to one that is removed", () =>
    Effect.gen(function*() {
      const [found] = yield* received(createUsersExport, { ...job, created_at: null, unlisted: null })
      assert.deepStrictEqual(found, { ...job, unlisted: null })
    }))

  it.effect("null of a member that must be there is refused by name", () =>
    Effect.gen(function*() {
      const error = yield* failed(createUsersExport, {}, json({ ...job, status: null, created_at: null }))
      assert.deepInclude(error, { reason: "schema", path: "status" })
    }))
})

describe("what comes is what is given", () => {
  const promising = operations.filter(({ endpoint }) => endpoint.success !== undefined)

  /** Values that satisfy an operation, as JSON. */
  const values = ({ endpoint }: Subject): FastCheck.Arbitrary<unknown> =>
    Arbitrary.make(endpoint.success as Schema.Schema<unknown>)
      .map((value) => JSON.parse(JSON.stringify(value) ?? "null") as unknown)
      .filter((value) => value !== null && ParseResult.is(endpoint.success!)(value))

  /** Puts null wherever a known member may be missing and is. */
  const withNulls = (ast: AST.AST, value: unknown): unknown => {
    switch (ast._tag) {
      case "Union":
        return ast.types.reduce((value, type) => withNulls(type, value), value)
      case "TupleType":
        return (value as ReadonlyArray<unknown>).map((item) => withNulls(ast.rest[0]!.type, item))
      case "TypeLiteral": {
        const copy = { ...value as Record<PropertyKey, unknown> }
        for (const { isOptional, name, type } of ast.propertySignatures) {
          if (name in copy) copy[name] = withNulls(type, copy[name])
          else if (isOptional) copy[name] = null
        }
        return copy
      }
      default:
        return value
    }
  }

  for (const operation of promising) {
    const { name } = operation.endpoint

    it.effect(`${name}: the very object that was parsed, if it satisfies the promise`, () =>
      forAll(values(operation), (value) =>
        Effect.gen(function*() {
          const parse = yield* Effect.acquireRelease(
            Effect.sync(() => vi.spyOn(JSON, "parse")),
            (spy) => Effect.sync(() => spy.mockRestore())
          )
          const found = yield* resultOf(operation, sample(operation), bare(JSON.stringify(value)))
          assert.strictEqual(found, parse.mock.results[0]?.value)
          assert.deepStrictEqual(found, value)
        }).pipe(Effect.scoped)))

    it.effect(`${name}: the same without the nulls of known members that may be missing`, () =>
      forAll(values(operation), (value) =>
        Effect.gen(function*() {
          const holed = withNulls(operation.endpoint.success!.ast, value)
          assert.deepStrictEqual(yield* resultOf(operation, sample(operation), json(holed)), value)
        })))
  }
})

describe("a member of an answer that may be missing", () => {
  const rows: ReadonlyArray<readonly [name: string, schema: Schema.Schema.AnyNoContext, value: object]> = [
    ["limit", UsersExportJob, { id: "1", type: "t", status: "s" }],
    ["name", TokenExchangeProfile, {}],
    ["page", ActionVersions, { total: 0, per_page: 20, versions: [] }]
  ]
  for (const [name, schema, value] of rows) {
    it(`is not there, or has a value: ${name}`, () => {
      const is = ParseResult.is(schema)
      assert.deepStrictEqual([value, { ...value, [name]: undefined }].map((value) => is(value)), [true, false])
    })
  }
})

describe("requests", () => {
  it.effect("an export of which nothing is set sends an empty object: no limit, no type", () =>
    Effect.gen(function*() {
      assert.strictEqual(bodyOf(yield* sentOne(createUsersExport, {})), "{}")
    }))

  it.effect.each([{}, { name: undefined, subject_token_type: undefined }])(
    "a profile update of %j is refused",
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
    "the subject_token_type %s is a URI, so the service decides",
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
    "the id %s of 26 characters is sent",
    (id) =>
      Effect.gen(function*() {
        const { url } = yield* sentOne(deleteEventStream, { id })
        assert.isTrue(url.endsWith(`/event-streams/${encodeURIComponent(id)}`))
      })
  )

  it.effect.each([0, 1, 25, 27, 52])("an id of %i characters is refused", (length) =>
    Effect.gen(function*() {
      const wrong = "x".repeat(length)
      const issue = (path: string) => ({ path, message: "expected a string of exactly 26 characters" })
      const one = yield* failed(deleteEventStream, { id: wrong }, json({}))
      const both = yield* failed(redeliverEvent, { id: wrong, event_id: wrong }, json({}))
      assert.deepStrictEqual((one as Errors.InvalidInput).issues, [issue("id")])
      assert.deepStrictEqual((both as Errors.InvalidInput).issues, [issue("id"), issue("event_id")])
    }))

  it.effect("/ ? # and % in a path parameter are percent-encoded", () =>
    Effect.gen(function*() {
      const { url } = yield* sentOne(listActionVersions, { actionId: "a/b?c#d%e" })
      assert.isTrue(url.endsWith("/actions/actions/a%2Fb%3Fc%23d%25e/versions"))
    }))

  it.effect.each(["", ".", ".."])(
    "%j as a path parameter would be another route, so it is refused",
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

  it.effect("a fault deep in a list is named by its path", () =>
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
  )("%#: what is expected is told", ([operation, input, message]) =>
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
    "%#: a failure as it was recorded",
    ([operation, status, phrase, message, errorCode, Expected]) =>
      Effect.gen(function*() {
        const input = operation === createUsersExport ? {} : sample(operation)
        const reply = problem(status, phrase, message, errorCode, { attributes: { error: "more" } })
        const error = yield* failed(operation, input, reply)
        assert.instanceOf(error, Expected)
        const { errorCode: code, message: words } = error as Errors.ErrorDetails
        assert.deepStrictEqual([words, code], [message, errorCode])
      })
  )

  it.effect("the OAuth shape of a 429: the code is `error`, the words are `error_description`", () =>
    Effect.gen(function*() {
      const body = { error: "too_many_requests", error_description: "Global limit has been reached" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 429, body }))
      assert.deepInclude(error, { errorCode: "too_many_requests" })
      assert.strictEqual((error as Errors.RateLimited).message, "Global limit has been reached")
    }))

  it.effect("the shape {code, description} is read as well", () =>
    Effect.gen(function*() {
      const body = { code: "a_code", description: "Some words" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))
      assert.deepInclude(error, { errorCode: "a_code" })
      assert.strictEqual((error as Errors.BadRequest).message, "Some words")
    }))

  it.effect("the reason phrase is no code, and the message where there are no other words", () =>
    Effect.gen(function*() {
      const body = { statusCode: 400, error: "Bad Request" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))
      assert.notProperty(error, "errorCode")
      assert.strictEqual((error as Errors.BadRequest).message, "Bad Request")
    }))

  it.effect.each(
    [
      [
        "<html><head><title> 502 Bad\nGateway </title></head></html>",
        "text/html",
        "a web page titled \"502 Bad\nGateway\""
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
    "the body %j is told by its shape, and the status decides",
    ([body, contentType, detail]) =>
      Effect.gen(function*() {
        const reply = (status: number) => Testing.reply({ status, headers: { "content-type": contentType }, body })
        const shape = `${contentType}, ${body.length} bytes${detail === "" ? "" : `, ${detail}`}`
        const declared = yield* failed(createUsersExport, {}, reply(400))
        const other = yield* failed(createUsersExport, {}, reply(502))
        assert.instanceOf(declared, Errors.BadRequest)
        assert.strictEqual((declared as Errors.BadRequest).message, `status 400: ${shape}`)
        assert.instanceOf(other, Errors.UnexpectedResponse)
        assert.deepInclude(other, { status: 502, reason: "status", shape, contentType })
      })
  )

  it.effect("members of other types than the usual are no words and no code", () =>
    Effect.gen(function*() {
      const body = { statusCode: "400", error: 7, message: { a: 1 }, errorCode: null, code: [], description: "" }
      const error = yield* failed(createUsersExport, {}, Testing.reply({ status: 400, body }))
      assert.notProperty(error, "errorCode")
      assert.match(
        (error as Errors.BadRequest).message,
        /^status 400: application\/json, \d+ bytes, an object of statusCode/
      )
    }))
})

describe("403", () => {
  const forbidden = (body: unknown, headers: Record<string, string> = {}) =>
    failed(createUsersExport, {}, Testing.reply({ status: 403, headers, body }))
  const required = (error: unknown) => error instanceof Errors.InsufficientScope ? error.required : error

  it.effect("`errorCode` insufficient_scope is InsufficientScope, `required` what the message names", () =>
    Effect.gen(function*() {
      const message = "Insufficient scope, expected any of: read:users, create:users_exports"
      const error = yield* forbidden({ statusCode: 403, error: "Forbidden", message, errorCode: "insufficient_scope" })
      assert.deepStrictEqual(required(error), ["read:users", "create:users_exports"])
    }))

  it.effect("a message that begins so is enough", () =>
    Effect.gen(function*() {
      const error = yield* forbidden({ message: "Insufficient scope, expected any of: read:users" })
      assert.deepStrictEqual(required(error), ["read:users"])
    }))

  it.effect("the OAuth shape of it is InsufficientScope as well", () =>
    Effect.gen(function*() {
      const error = yield* forbidden({ error: "insufficient_scope", error_description: "Scope missing" })
      assert.deepStrictEqual(required(error), ["read:users"])
    }))

  it.effect("`required` comes from WWW-Authenticate if the message names none", () =>
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

  it.effect("`required` is the declared scope if the answer names none", () =>
    Effect.forEach(operations, (operation) =>
      Effect.gen(function*() {
        const reply = Testing.reply({ status: 403, body: { errorCode: "insufficient_scope", message: "No." } })
        assert.deepStrictEqual(required(yield* failed(operation, sample(operation), reply)), [operation.endpoint.scope])
      })))

  it.effect.each([
    { message: "This feature is not enabled", errorCode: "feature_not_enabled" },
    { message: "You have insufficient scope of action" },
    {},
    "<html></html>"
  ])("%j is Forbidden", (body) =>
    Effect.gen(function*() {
      assert.instanceOf(yield* forbidden(body), Errors.Forbidden)
    }))
})

describe("what a class of errors is asked about", () => {
  it.effect("says that a scope is missing with 403 only, and else names the operation's own", () =>
    Effect.gen(function*() {
      const asked: Array<Errors.ErrorResponse> = []
      class Odd extends Errors.statusError("Odd", 400) {
        static override matches(answer: Errors.ErrorResponse) {
          return asked.push(answer) > 0
        }
      }
      const odd = Operation.make("odd", {
        method: "GET",
        path: "/odd",
        scope: "read:odd",
        idempotent: true,
        error: [Odd, Errors.RateLimited]
      })
      const body = { errorCode: "insufficient_scope", message: "Insufficient scope: read:users" }
      assert.instanceOf(yield* failed(odd, {}, Testing.reply({ status: 400, body })), Odd)
      assert.deepStrictEqual(asked.map(({ insufficientScope, required }) => ({ required, insufficientScope })), [
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
    "the headers %s* are read",
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

  it.effect("they are on successes too, and withResponse gives them", () =>
    Effect.gen(function*() {
      const { response } = yield* IdentityClient.withResponse(deleteEventStream({ id })).pipe(
        Effect.provide(scripted(Testing.reply({ status: 204, headers: { "X-RateLimit-Remaining": "9" } })))
      )
      assert.strictEqual(Option.getOrThrow(response).headers["x-ratelimit-remaining"], "9")
    }))

  it.effect("a reset that is now or has passed is a time like any other, and says nothing of a wait", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      for (const reset of [1_700_000_000, 1_600_000_000]) {
        const error = yield* limited({ "x-ratelimit-reset": String(reset) })
        assert.strictEqual(error.resetAt && DateTime.toEpochMillis(error.resetAt), reset * 1000)
        assert.notProperty(error, "retryAfter")
      }
    }))

  it.effect.each(["", "soon", "-1", "1.5", "99999999999999999999", "999999999999999"])(
    "a reset of %j is none",
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

  it.effect("Retry-After as a date counts from the answer's own date, whatever the local clock says", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000_000_000)
      const { retryAfter } = yield* limited({
        "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT",
        date: "Tue, 14 Nov 2023 22:13:20 GMT"
      })
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 30_000)
    }))

  it.effect("Retry-After as a date counts from the local clock if the answer has no date", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const { retryAfter } = yield* limited({ "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT" })
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 30_000)
    }))

  it.effect("Retry-After as a date that has passed is no wait", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_700_000_000_000)
      const { retryAfter } = yield* limited({ "retry-after": "Tue, 14 Nov 2023 22:13:00 GMT" })
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 0)
    }))

  it.effect.each(["", "soon", "-5", "1.5"])("Retry-After %j is none", (value) =>
    Effect.gen(function*() {
      assert.notProperty(yield* limited({ "retry-after": value }), "retryAfter")
    }))

  it.effect("Retry-After stands on other failures too", () =>
    Effect.gen(function*() {
      const reply = Testing.reply({ status: 503, headers: { "retry-after": "7" } })
      const { retryAfter } = (yield* failed(createUsersExport, {}, reply)) as Errors.UnexpectedResponse
      assert.strictEqual(retryAfter && Duration.toMillis(retryAfter), 7000)
    }))
})

describe("an operation", () => {
  it("says whether it is idempotent, and where the items of its pages are", () => {
    assert.deepStrictEqual(
      operations.map(({ endpoint: { idempotent, items, name } }) => [name, idempotent, items]).sort(),
      [
        ["createUsersExport", false, undefined],
        ["deleteEventStream", true, undefined],
        ["listActionVersions", true, "versions"],
        ["redeliverEvent", false, undefined],
        ["updateTokenExchangeProfile", true, undefined]
      ]
    )
  })
})

describe("what must not happen twice", () => {
  it.effect.each([500, 502, 503, 504])(
    "nothing is repeated after %i that must not be",
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

  it.effect("nothing is repeated after a connection that broke that must not be", () =>
    Effect.forEach(
      operations.filter(({ endpoint }) => !endpoint.idempotent),
      (operation) =>
        Effect.gen(function*() {
          yield* Effect.exit(operation(sample(operation) as never))
          assert.lengthOf(yield* Testing.requests, 1)
        }).pipe(Effect.provide(scripted(Testing.noReply("ECONNRESET"), Testing.reply({}))))
    ))
})

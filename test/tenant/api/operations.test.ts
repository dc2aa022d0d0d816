/** The tenant serves any operations: checked as declared, with responses from their schemas or set by the test. */
import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpServer from "@effect/platform/HttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createServer } from "node:http"
import * as Errors from "../../../src/Errors.js"
import * as Operation from "../../../src/Operation.js"
import { deleteEventStream, listActionVersions, redeliverEvent } from "../../../src/operations/index.js"
import * as Pagination from "../../../src/Pagination.js"
import { omittable } from "../../../src/Schemas.js"
import * as Tenant from "../../../src/Tenant.js"
import * as Timestamp from "../../../src/Timestamp.js"
import { action, call, host, itInProcess, send, stream, tokenOf } from "../support/calls.js"
import {
  added,
  clientOf,
  createUser,
  deleteUser,
  getUser,
  importUsers,
  listUsers,
  putTags,
  User,
  withTenant
} from "../support/operations.js"

const user = {
  user_id: "string",
  email: "string",
  status: "active",
  created_at: Timestamp.make("2026-01-01T00:00:00.000Z"),
  logins: 1
}

const operations = added

describe("an operation that the tenant is given", () => {
  it.effect("responds with a value of its schema, always the same", () =>
    withTenant(Effect.gen(function*() {
      assert.deepStrictEqual(yield* getUser({ id: "auth0|1" }), user)
      assert.deepStrictEqual(yield* createUser({ email: "a@b.example" }), yield* getUser({ id: "2" }))
      assert.isUndefined(yield* deleteUser({ id: "3" }))
      const { requests } = yield* Tenant.Tenant
      assert.deepStrictEqual(
        (yield* requests).map(({ operation, status }) => [operation, status]),
        [["token", 200], ["getUser", 200], ["createUser", 200], ["getUser", 200], ["deleteUser", 204]]
      )
    })))

  it.effect("responds with the page that is asked for: the first has an item, and those after it are empty", () =>
    withTenant(Effect.gen(function*() {
      assert.deepStrictEqual(yield* listUsers({}), { start: 0, limit: 50, total: 1, users: [user] })
      assert.deepStrictEqual(yield* listUsers({ page: 0, per_page: 2 }), {
        start: 0,
        limit: 2,
        total: 1,
        users: [user]
      })
      assert.deepStrictEqual(yield* listUsers({ page: 3, per_page: 2 }), { start: 6, limit: 2, total: 1, users: [] })
      assert.deepStrictEqual([...yield* Stream.runCollect(Pagination.stream(listUsers, {}))], [user])
    })))

  it.effect("ends a list also where the schema requires the checkpoint of a next page", () => {
    const listThings = (name: string, next: Schema.Schema<string | null> | Schema.Schema<string>) =>
      Operation.make(name, () => ({
        method: "GET",
        path: `/${name}`,
        query: { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Number) },
        success: Schema.Struct({ next, things: Schema.Array(Schema.Struct({ id: Schema.String })) }),
        items: "things",
        paging: "checkpoint",
        scope: [],
        idempotent: true,
        error: [Errors.RateLimited]
      }))
    const operations = [listThings("listNullable", Schema.NullOr(Schema.String)), listThings("listText", Schema.String)]
    return withTenant(
      Effect.forEach(operations, (operation) =>
        Effect.gen(function*() {
          const { next } = yield* operation({})
          assert.isTrue(next === null || next === "")
          assert.lengthOf((yield* operation({ from: "1" })).things, 0)
        })),
      { operations }
    )
  })

  it.effect("responds with all fields if it has no pages, also with one that is called `next`", () => {
    const declaration = { method: "GET", scope: [], idempotent: true, error: [Errors.RateLimited] } as const
    const getStep = Operation.make("getStep", () => ({
      path: "/step",
      success: Schema.Struct({ next: omittable(Schema.String) }),
      ...declaration
    }))
    const getText = Operation.make("getText", () => ({ path: "/text", success: Schema.String, ...declaration }))
    return withTenant(
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* getStep({}), { next: "string" })
        assert.strictEqual(yield* getText({}), "string")
      }),
      { operations: { getStep, getText } }
    )
  })

  it.effect("responds with what the test sets, made from the decoded input", () =>
    withTenant(Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const inputs: Array<unknown> = []
      yield* tenant.respond(getUser, (input) => {
        inputs.push(input)
        return input.id === "none" ? Effect.fail(404) : Effect.succeed({ user_id: input.id, status: "new" })
      })
      const input = { id: "a/b %", fields: ["email", "x,y"] }
      assert.deepStrictEqual(yield* getUser(input), { user_id: "a/b %", status: "new" })
      assert.deepStrictEqual(inputs, [input])
      const missing = yield* Effect.flip(getUser({ id: "none" }))
      assert.deepStrictEqual([missing._tag, missing.message], ["NotFound", "getUser: A failure that the test has set"])
      yield* tenant.respond(getUser, () => Effect.fail({ status: 418, message: "a teapot", errorCode: "tea" }))
      const undeclared = yield* Effect.flip(getUser(input))
      assert.strictEqual(undeclared._tag, "UnexpectedResponse")
      assert.include(undeclared, { status: 418, errorCode: "tea" })
      yield* tenant.respond(deleteUser, () => Effect.void)
      yield* deleteUser({ id: "1" })
      assert.strictEqual((yield* tenant.requests).at(-1)?.status, 204)
    })))

  itInProcess("responds without a body if the test sets none, and labels it as JSON", () =>
    Effect.gen(function*() {
      const { respond } = yield* Tenant.Tenant
      yield* respond(deleteUser, () => Effect.void)
      const { headers, status, text } = yield* call(deleteUser.endpoint, { params: { id: "1" } })
      assert.deepStrictEqual([status, text, headers["content-type"]], [204, "", "application/json"])
    }), { operations })

  itInProcess("refuses an invalid path, query or body, and names the field", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf()
      const cases = [
        [listUsers.endpoint, { query: "?page=-1" }, "Query", "page"],
        [listUsers.endpoint, { query: "?pages=1" }, "Query", "pages"],
        [createUser.endpoint, { body: { email: "a" } }, "Payload", "email"],
        [createUser.endpoint, { body: { email: "a@b.example", logins: 1.5 } }, "Payload", "logins"],
        [createUser.endpoint, { body: { email: "a@b.example", other: 1 } }, "Payload", "other"]
      ] as const
      for (const [endpoint, call, part, field] of cases) {
        const { json, status } = yield* send(endpoint, { token, ...call })
        assert.strictEqual(status, 400)
        assert.match(json.message, new RegExp(`^${part} validation error: .* on property ${field}$`))
      }
    }), { operations })

  /** Sends a call of `putTags`. */
  const put = Effect.fn(function*(body: HttpBody.HttpBody, headers: Record<string, string>, client?: Tenant.Client) {
    const url = `${host}/api/v2/users/1/tags`
    const authorization = `Bearer ${yield* tokenOf(client)}`
    const response = yield* HttpClient.put(url, { headers: { authorization, ...headers }, body })
    return { status: response.status, json: (yield* response.json) as any }
  })

  itInProcess("has any of its scopes, its headers and its whole body checked", () =>
    Effect.gen(function*() {
      const { respond } = yield* Tenant.Tenant
      const inputs: Array<unknown> = []
      yield* respond(putTags, (input) => {
        inputs.push(input)
        return Effect.succeed([])
      })
      const tags = [{ name: "a", size: 1 }]
      yield* put(HttpBody.unsafeJson(tags), { "x-domain": "short", "x-other": "1" })
      yield* put(HttpBody.empty, {})
      yield* put(HttpBody.text("0[name]=a&0[size]=1", "application/x-www-form-urlencoded"), {})
      assert.deepStrictEqual(inputs, [{ id: "1", "x-domain": "short", body: tags }, { id: "1" }, {
        id: "1",
        body: tags
      }])
      for (
        const [body, headers, message] of [
          [HttpBody.unsafeJson([{ size: 1 }]), {}, "Payload validation error: 'is missing' on property [0].name"],
          [
            HttpBody.unsafeJson([{ name: "a", other: 1 }]),
            {},
            "Payload validation error: 'unknown field' on property [0].other"
          ],
          [HttpBody.text("[", "application/json"), {}, "Payload validation error: 'The body is not valid JSON'"],
          [
            HttpBody.text("<a/>", "text/xml"),
            {},
            "Payload validation error: 'The content type text/xml is not supported'"
          ],
          [
            HttpBody.unsafeJson(tags),
            { "x-domain": "too long" },
            "Header validation error: 'Expected a string of at most 5 characters' on property x-domain"
          ]
        ] as const
      ) {
        const { json, status } = yield* put(body, headers)
        assert.deepStrictEqual([status, json.message], [400, message])
      }
      assert.lengthOf(inputs, 3)
    }), { operations })

  for (const scope of ["update:users", "update:tags", "read:users"]) {
    const isEnough = scope.startsWith("update")
    const client = { ...Tenant.demoClients.full, scopes: [scope] }
    itInProcess(
      `${isEnough ? "allows" : "refuses"} a call with only ${scope} where either of two is needed`,
      () =>
        Effect.gen(function*() {
          const { json, status } = yield* put(HttpBody.empty, {}, client)
          if (isEnough) return assert.deepStrictEqual([status, json], [200, [{ name: "string" }]])
          assert.deepStrictEqual([status, json.message], [
            403,
            "Insufficient scope, expected any of: update:users, update:tags"
          ])
        }),
      { operations, clients: [client] }
    )
  }

  itInProcess("needs only a token where it has no scope, and reads a multipart body", () =>
    Effect.gen(function*() {
      const { requests, respond } = yield* Tenant.Tenant
      const inputs: Array<unknown> = []
      const post = Effect.fn(function*(body: HttpBody.HttpBody) {
        const authorization = `Bearer ${yield* tokenOf({ ...Tenant.demoClients.full, id: "none" })}`
        const response = yield* HttpClient.post(`${host}/api/v2/imports`, { headers: { authorization }, body })
        return [response.status, yield* response.json] as const
      })
      const form = (fields: Record<string, string | Blob>) => {
        const data = new FormData()
        for (const [name, value] of Object.entries(fields)) {
          if (typeof value === "string") data.append(name, value)
          else data.append(name, value, "ü.json")
        }
        return HttpBody.formData(data)
      }
      const bytes = new Uint8Array([0, 255, 13, 10, 45, 45])
      const users = new Blob([bytes], { type: "application/json" })
      assert.deepStrictEqual(yield* post(form({ users, upsert: "true", external_id: "7" })), [200, 1])
      yield* respond(importUsers, (input) => {
        inputs.push(input)
        return Effect.succeed(null)
      })
      assert.deepStrictEqual(yield* post(form({ users, upsert: "true", external_id: "7" })), [200, null])
      const file = { name: "ü.json", contentType: "application/json", content: bytes }
      assert.deepStrictEqual(inputs, [{ users: file, upsert: true, external_id: "7" }])
      assert.deepStrictEqual((yield* requests).at(-1)?.body, inputs[0])
      const twice = new FormData()
      twice.append("external_id", "1")
      twice.append("external_id", "2")
      for (
        const [body, message] of [
          [form({ upsert: "true" }), "'is missing' on property users"],
          [form({ users, upsert: "maybe" }), "'Expected a boolean' on property upsert"],
          [form({ users, other: "1" }), "'unknown field' on property other"],
          [form({ users: "text" }), /^'Expected .*' on property users$/],
          [HttpBody.formData(twice), "'is given twice' on property external_id"],
          [HttpBody.unsafeJson({}), "'The content type application/json is not supported'"],
          [HttpBody.text("x", "multipart/form-data"), "'The body is not valid multipart/form-data'"]
        ] as const
      ) {
        const [status, json] = yield* post(body)
        const { message: found } = json as { readonly message: string }
        assert.strictEqual(status, 400)
        const reason = found.replace("Payload validation error: ", "")
        if (typeof message === "string") assert.strictEqual(reason, message)
        else assert.match(reason, message)
      }
    }), {
    operations,
    clients: [{ ...Tenant.demoClients.full, id: "none", scopes: [] }]
  })

  itInProcess("responds with server-sent events where it declares them", () =>
    Effect.gen(function*() {
      const streamEvents = Operation.make("streamEvents", () => ({
        method: "GET",
        path: "/events",
        events: Schema.Struct({ id: Schema.String }),
        scope: [],
        idempotent: true,
        error: [Errors.RateLimited]
      }))
      const tenant = yield* Tenant.make({ operations: { streamEvents } })
      const get = Effect.flatMap(tokenOf(), (token) =>
        HttpClient.get(`${host}/api/v2/events`, { headers: { authorization: `Bearer ${token}` } }).pipe(
          Effect.flatMap(({ headers, text }) =>
            Effect.map(text, (text) => [headers["content-type"], text])
          )
        )).pipe(
          Effect.provide(Layer.fresh(Tenant.layerHttpClient)),
          Effect.provideService(Tenant.Tenant, tenant)
        )
      assert.deepStrictEqual(yield* get, ["text/event-stream", "data: {\"id\":\"string\"}\n\n"])
      yield* tenant.respond(streamEvents, () => Effect.succeed([{ id: "1" }, { id: "2" }]))
      assert.deepStrictEqual(yield* get, ["text/event-stream", "data: {\"id\":\"1\"}\n\ndata: {\"id\":\"2\"}\n\n"])
      const { paths } = tenant.openapi as any
      assert.deepStrictEqual(Object.keys(paths["/api/v2/events"].get.responses["200"].content), ["text/event-stream"])
    }))

  itInProcess(
    "fails with a status from 200 to 599 only: any other is a defect that names it",
    () =>
      Effect.gen(function*() {
        const { respond } = yield* Tenant.Tenant
        for (const status of [99, 199, 600, 404.5, NaN]) {
          yield* respond(getUser, () => Effect.fail({ status }))
          const exit = yield* Effect.exit(call(getUser.endpoint, { params: { id: "1" } }))
          assert.include(String(exit), `Invalid status ${status} set by \`respond\` for getUser`)
        }
      }),
    { operations }
  )

  itInProcess("needs its scope, which the demo's clients have if they are the default", () =>
    Effect.gen(function*() {
      const token = yield* tokenOf(Tenant.demoClients.readsActions)
      const { json, status } = yield* send(createUser.endpoint, { token, body: { email: "a@b.example" } })
      assert.deepStrictEqual(
        [status, json.message],
        [403, "Insufficient scope, expected any of: create:users"]
      )
      const { full, notGlobal } = Tenant.demoClients
      for (const client of [full, notGlobal]) {
        const { status } = yield* send(createUser.endpoint, {
          token: yield* tokenOf(client),
          body: { email: "a@b.example" }
        })
        assert.strictEqual(status, 200)
      }
    }), { operations })

  it.effect("has the scopes that a listed client lists, and no others", () =>
    withTenant(
      Effect.gen(function*() {
        yield* getUser({ id: "1" })
        const error = yield* Effect.flip(deleteUser({ id: "1" }))
        assert.strictEqual(error._tag, "InsufficientScope")
      }),
      { clients: [{ ...Tenant.demoClients.full, scopes: ["read:users"] }] }
    ))

  it.effect("takes from the tenant's bucket, and faults apply to it", () =>
    withTenant(
      Effect.gen(function*() {
        const { injectFault } = yield* Tenant.Tenant
        yield* injectFault({ operation: "getUser", status: 404 })
        yield* deleteUser({ id: "1" })
        assert.strictEqual((yield* Effect.flip(getUser({ id: "1" })))._tag, "NotFound")
        yield* getUser({ id: "1" })
        assert.strictEqual((yield* Effect.flip(getUser({ id: "1" })))._tag, "RateLimited")
      }),
      { buckets: { tenant: { burst: 2, refill: 1, per: "1 hour" } } }
    ))

  it.effect("is served beside those of the contract, in any form of list", () =>
    Effect.forEach(
      [
        [getUser, deleteEventStream],
        { getUser, anything: 1, nothing: null, User, settings: { endpoint: "https://a.example" }, redeliverEvent }
      ],
      (operations) =>
        withTenant(
          Effect.gen(function*() {
            const { routes, state } = yield* Tenant.Tenant
            assert.deepStrictEqual(
              routes,
              Tenant.routes.toSpliced(-2, 0, {
                operation: "getUser",
                method: "GET",
                path: "/api/v2/users/:id",
                scopes: ["read:users"]
              })
            )
            yield* deleteEventStream({ id: stream.id })
            assert.lengthOf((yield* state).streams, 1)
            assert.strictEqual((yield* listActionVersions({ actionId: action.id })).total, 3)
            yield* getUser({ id: "1" })
          }),
          { operations }
        )
    ))

  it.effect("takes the place of one of the contract with its route, and keeps its behaviour", () => {
    const { path, method } = deleteEventStream.endpoint
    const declaration = { scope: "delete:x", idempotent: true, error: [Errors.RateLimited] } as const
    const removeStream = Operation.make("removeStream", () => ({
      method,
      path: "/event-streams/:id",
      params: { id: Schema.String },
      ...declaration
    }))
    const otherName = Operation.make("removeStream", () => ({
      method,
      path: "/event-streams/:other",
      params: { other: Schema.String },
      ...declaration
    }))
    assert.strictEqual(path, removeStream.endpoint.path)
    return Effect.zipRight(
      withTenant(
        Effect.gen(function*() {
          const { openapi, requests, state } = yield* Tenant.Tenant
          yield* removeStream({ id: stream.id })
          assert.lengthOf((yield* state).streams, 1)
          yield* removeStream({ id: "short" })
          assert.strictEqual((yield* requests).at(-1)?.operation, "removeStream")
          assert.notInclude(JSON.stringify(openapi), "deleteEventStream")
        }),
        { operations: [removeStream] }
      ),
      withTenant(
        Effect.gen(function*() {
          const { state } = yield* Tenant.Tenant
          yield* otherName({ other: stream.id })
          assert.lengthOf((yield* state).streams, 2)
        }),
        { operations: [otherName] }
      )
    )
  })

  it.effect("may have a response set, even if it is one of the contract", () =>
    withTenant(Effect.gen(function*() {
      const { respond, state } = yield* Tenant.Tenant
      yield* respond(deleteEventStream, () => Effect.fail(409))
      assert.strictEqual((yield* Effect.flip(deleteEventStream({ id: stream.id })))._tag, "UnexpectedResponse")
      assert.lengthOf((yield* state).streams, 2)
    })))

  it.effect("must differ from the others in route and name, and be served to have a response", () =>
    Effect.gen(function*() {
      const declaration = { method: "GET", scope: "read:x", idempotent: true, error: [Errors.RateLimited] } as const
      const params = { name: Schema.String }
      const sameRoute = Operation.make("other", () => ({ path: "/users/:name", params, ...declaration }))
      const sameName = Operation.make("getUser", () => ({ path: "/others/:name", params, ...declaration }))
      const token = Operation.make("token", () => ({ path: "/others/:name", params, ...declaration }))
      const issues = (operations: Tenant.Options["operations"]) =>
        Effect.map(Effect.flip(Tenant.make({ operations })), ({ issues }) => issues)
      const path = "operations"
      assert.deepStrictEqual(
        yield* issues([getUser, sameRoute]),
        [{ path, message: "two operations have the route GET /users/:" }]
      )
      assert.deepStrictEqual(
        yield* issues([getUser, sameName]),
        [{ path, message: "two operations have the name getUser" }]
      )
      assert.deepStrictEqual(
        yield* issues({ token }),
        [{ path, message: "two operations have the name token" }]
      )
      yield* Tenant.make({ operations: [getUser, getUser] })
      const { respond } = yield* Tenant.make()
      assert.include(
        String(yield* Effect.exit(respond(getUser, () => Effect.fail(404)))),
        "The tenant does not serve getUser: list it in the option `operations`"
      )
    }))

  it.effect("responds with 501 if no value fits its schema", () => {
    const even = Schema.Number.pipe(Schema.filter((value) => value % 2 === 0))
    const strange = Operation.make("strange", () => ({
      method: "GET",
      path: "/strange",
      success: even,
      scope: "read:strange",
      idempotent: true,
      error: [Errors.RateLimited]
    }))
    return withTenant(
      Effect.gen(function*() {
        const error = yield* Effect.flip(strange({}))
        assert.strictEqual(error._tag, "UnexpectedResponse")
        assert.include(error, { status: 501 })
        assert.match(error.message, /No response of strange could be made from its schema: set one with `respond`/)
        const { respond } = yield* Tenant.Tenant
        yield* respond(strange, () => Effect.succeed(4))
        assert.strictEqual(yield* strange({}), 4)
      }),
      { operations: [strange] }
    )
  })
})

describe("the document of a tenant", () => {
  it.effect("covers its operations, is valid, and is served", () =>
    Effect.gen(function*() {
      const { openapi } = yield* Tenant.Tenant
      const { paths } = openapi as any
      assert.deepStrictEqual(Object.keys(paths["/api/v2/users/{id}"]), ["get", "delete"])
      const { operationId, parameters, responses, security } = paths["/api/v2/users/{id}"].get
      assert.strictEqual(operationId, "getUser")
      assert.deepStrictEqual(parameters.map(({ in: place, name }: any) => [place, name]), [["path", "id"], [
        "query",
        "fields"
      ]])
      assert.deepStrictEqual(responses["200"].content["application/json"].schema, {
        $ref: "#/components/schemas/User"
      })
      assert.deepStrictEqual(security, [{ clientCredentials: ["read:users"] }, { bearer: ["read:users"] }])
      const { parameters: tagParameters, requestBody: tagBody, security: tagSecurity } =
        paths["/api/v2/users/{id}/tags"].put
      assert.deepStrictEqual(tagParameters.map(({ in: place, name }: any) => [place, name]), [
        ["path", "id"],
        ["header", "x-domain"]
      ])
      assert.deepStrictEqual(
        [tagBody.required, tagBody.content["application/json"].schema.type],
        [false, "array"]
      )
      assert.deepStrictEqual(tagSecurity.map(({ bearer }: any) => bearer), [
        undefined,
        ["update:users"],
        undefined,
        ["update:tags"]
      ])
      const imports = paths["/api/v2/imports"].post
      assert.deepStrictEqual(imports.security, [{ clientCredentials: [] }, { bearer: [] }])
      assert.deepStrictEqual(Object.keys(imports.requestBody.content), ["multipart/form-data"])
      const { errors, valid } = yield* Effect.promise(() => new Validator().validate(structuredClone(openapi)))
      assert.isTrue(valid, JSON.stringify(errors))
      const get = (path: string) => Effect.flatMap(HttpClient.get(`https://tenant.test${path}`), ({ text }) => text)
      assert.deepStrictEqual(JSON.parse(yield* get("/openapi.json")), openapi)
    }).pipe(Effect.provide(Layer.provideMerge(Tenant.layerHttpClient, Tenant.layerWith({ operations })))))

  it.effect("has two definitions where two types have one identifier", () =>
    Effect.gen(function*() {
      const Other = Schema.Struct({ id: Schema.Number, user: Schema.optional(User) }).annotations({
        identifier: "User"
      })
      const putUser = Operation.make("putUser", () => ({
        method: "PUT",
        path: "/users/:id",
        params: { id: Schema.String },
        payload: { user: Other },
        success: User,
        scope: "update:users",
        idempotent: true,
        error: [Errors.RateLimited]
      }))
      const { openapi } = yield* Tenant.make({ operations: [getUser, putUser] })
      const { components, paths } = openapi as any
      const { requestBody, responses } = paths["/api/v2/users/{id}"].put
      const body = components.schemas[requestBody.content["application/json"].schema.$ref.split("/").at(-1)]
      const sent = components.schemas[body.properties.user.$ref.split("/").at(-1)]
      assert.deepStrictEqual(sent.properties.id, { type: "number" })
      const given = components.schemas[responses["200"].content["application/json"].schema.$ref.split("/").at(-1)]
      assert.deepStrictEqual(given.properties.user_id, { type: "string" })
    }))

  it.effect("is the exported constant if it has none of its own", () =>
    Effect.map(Tenant.make(), ({ openapi }) => assert.deepStrictEqual(openapi, Tenant.openapi)))
})

it.live("a tenant on a socket serves its operations as in process", () =>
  Effect.gen(function*() {
    const { requests, respond } = yield* Tenant.Tenant
    yield* HttpServer.addressFormattedWith((origin) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* getUser({ id: "auth0|ü/1", fields: ["a", "b"] }), user)
        yield* respond(createUser, ({ email }) => Effect.succeed({ ...user, email }))
        assert.deepStrictEqual(yield* createUser({ email: "a@b.example" }), { ...user, email: "a@b.example" })
        const paths = (yield* requests).map(({ path }) => path)
        assert.deepStrictEqual(paths.slice(1), ["/api/v2/users/auth0%7C%C3%BC%2F1", "/api/v2/users"])
      }).pipe(Effect.provide(clientOf(origin)))
    )
  }).pipe(
    Effect.provide(Tenant.layerServer),
    Effect.provide(Layer.mergeAll(
      Tenant.layerWith({ operations }),
      NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }),
      NodeHttpClient.layerUndici
    ))
  ))

/** Calls endpoints that the library does not have: declares the operations, and tests them. */
import { assert, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Layer, Redacted, Schedule, Schema, Stream, TestClock } from "effect"
import {
  Errors,
  IdentityClient,
  Operation,
  Pagination,
  RateLimiter,
  Retry,
  TokenProvider
} from "effect-identity-client"
import * as Testing from "effect-identity-client/Testing"

// A call without a declaration. Without `response` its result is unknown JSON.
export const rolesOf = (id: string) =>
  IdentityClient.request({
    method: "GET",
    path: "/users/:id/roles",
    params: { id },
    query: { per_page: 50 },
    response: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String }))
  })

// The declaration: method, path, fields of the request, schema of the response, and documented failures.
/** Returns a user. */
export const getUser = Operation.make("getUser", () => ({
  method: "GET",
  path: "/users/:id",
  params: { id: Schema.String },
  query: { fields: Schema.optional(Schema.String) },
  success: Schema.Struct({ user_id: Schema.String, email: Schema.optionalWith(Schema.String, { exact: true }) }),
  scope: "read:users",
  idempotent: true,
  error: [Errors.Unauthorized, Errors.InsufficientScope, Errors.Forbidden, Errors.NotFound, Errors.RateLimited]
}))

// An operation with a body that must not be carried out twice: retried only if it was certainly not carried out.
/** Sends a user the mail that verifies the address. */
export const sendVerificationEmail = Operation.make("sendVerificationEmail", () => ({
  method: "POST",
  path: "/jobs/verification-email",
  payload: { user_id: Schema.String, client_id: Schema.optional(Schema.String) },
  success: Schema.Struct({ id: Schema.String, status: Schema.String }),
  scope: "update:users",
  idempotent: false,
  error: [Errors.BadRequest, Errors.Unauthorized, Errors.InsufficientScope, Errors.Forbidden, Errors.RateLimited]
}))

// A list with pages: `items` names the field that holds them, and `Pagination.stream` returns all of them.
/** Returns a page of the tenant's roles. */
export const listRoles = Operation.make("listRoles", () => ({
  method: "GET",
  path: "/roles",
  query: { page: Schema.optional(Schema.Number), per_page: Schema.optional(Schema.Number) },
  success: Schema.Struct({
    total: Schema.Number,
    roles: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String }))
  }),
  items: "roles",
  scope: "read:roles",
  idempotent: true,
  error: [Errors.Unauthorized, Errors.InsufficientScope, Errors.Forbidden, Errors.RateLimited]
}))

export const names = Pagination.stream(listRoles, { per_page: 2 }).pipe(
  Stream.map(({ name }) => name),
  Stream.runCollect
)

// The function runs at the first call, so a program may import hundreds. Any of the scopes is enough.
/** Changes a user. `null` clears a field, `undefined` leaves it as it is. */
export const updateUser = Operation.make("updateUser", () => ({
  method: "PATCH",
  path: "/users/:id",
  params: { id: Schema.String },
  headers: { "auth0-custom-domain": Schema.optional(Schema.String) },
  payload: {
    nickname: Schema.optional(Schema.NullOr(Schema.String)),
    blocked: Schema.optional(Schema.Boolean)
  },
  minProperties: 1,
  success: Schema.Struct({ user_id: Schema.String }),
  scope: ["update:users", "update:users_app_metadata"],
  idempotent: true,
  error: [Errors.BadRequest, Errors.NotFound, Errors.PreconditionFailed, Errors.RateLimited]
}))

// A body that is a list. The caller gives it in the field `body`; the result is a list, too.
const Method = Schema.Union(
  Schema.Struct({ type: Schema.Literal("phone"), phone_number: Schema.String }),
  Schema.Struct({ type: Schema.Literal("email"), email: Schema.String })
)

/** Replaces the authentication methods of a user. */
export const setAuthenticationMethods = Operation.make("setAuthenticationMethods", () => ({
  method: "PUT",
  path: "/users/:id/authentication-methods",
  params: { id: Schema.String },
  body: Schema.Array(Method),
  success: Schema.Array(Method),
  scope: "update:authentication_methods",
  idempotent: true,
  error: [Errors.BadRequest, Errors.RateLimited]
}))

// A list that goes on by checkpoint: the field `next` of a page is the `from` of the next request.
/** Returns a part of the users that have a role. */
export const listRoleUsers = Operation.make("listRoleUsers", () => ({
  method: "GET",
  path: "/roles/:id/users",
  params: { id: Schema.String },
  query: { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Int) },
  success: Schema.Struct({
    next: Schema.optionalWith(Schema.String, { exact: true }),
    users: Schema.Array(Schema.Struct({ user_id: Schema.String }))
  }),
  items: "users",
  paging: "checkpoint",
  scope: "read:role_members",
  idempotent: true,
  error: [Errors.NotFound, Errors.RateLimited]
}))

// A log: `from` is the id of an event, and finds what is newer. It is followed by asking again from the last event.
/** Returns events of the log: by number the newest first, after an event the oldest first. */
export const listLogs = Operation.make("listLogs", () => ({
  method: "GET",
  path: "/logs",
  query: {
    page: Schema.optional(Schema.Int),
    per_page: Schema.optional(Schema.Int),
    search: Schema.optional(Schema.String),
    from: Schema.optional(Schema.String),
    take: Schema.optional(Schema.Int)
  },
  success: Schema.Array(Schema.Struct({ log_id: Schema.String, type: Schema.String })),
  paging: "newer",
  scope: "read:logs",
  idempotent: true,
  error: [Errors.BadRequest, Errors.RateLimited]
}))

/** Streams the events after this one, and those that come, for ever. */
const eventsAfter = (id: string) => {
  let last = id
  return Stream.suspend(() => Pagination.stream(listLogs, { from: last, take: 100 })).pipe(
    Stream.tap(({ log_id }) =>
      Effect.sync(() => {
        last = log_id // keep it where it survives a crash
      })
    ),
    Stream.repeat(Schedule.spaced("5 seconds"))
  )
}

// The tests.
const clientAbove = (...replies: ReadonlyArray<Testing.Reply>) =>
  IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
    Layer.provideMerge(Testing.layerHttp(...replies))
  )

it.effect("makes a call without a declaration", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* rolesOf("auth0|1"), [{ id: "rol_1", name: "Admin" }])
    const [{ url } = { url: "" }] = yield* Testing.requests
    assert.match(url, /\/users\/auth0%7C1\/roles\?per_page=50$/)
  }).pipe(Effect.provide(clientAbove(Testing.reply({ body: [{ id: "rol_1", name: "Admin" }] })))))

it.effect("returns a user", () =>
  Effect.gen(function*() {
    const user = yield* getUser({ id: "auth0|1", fields: "user_id,email" })
    const [request] = yield* Testing.requests
    assert.deepStrictEqual(user, { user_id: "auth0|1", email: "a@example.com" })
    assert.strictEqual(request?.url, "https://tenant.example.com/api/v2/users/auth0%7C1?fields=user_id%2Cemail")
  }).pipe(Effect.provide(clientAbove(Testing.reply({ body: { user_id: "auth0|1", email: "a@example.com" } })))))

it.effect("sends the body once, also after a 502", () =>
  Effect.gen(function*() {
    const error = yield* Effect.flip(sendVerificationEmail({ user_id: "auth0|1" }))
    assert.strictEqual(error._tag, "UnexpectedResponse")
    const [request, ...others] = yield* Testing.requests
    assert.lengthOf(others, 0)
    assert.deepInclude(request, { method: "POST", url: "https://tenant.example.com/api/v2/jobs/verification-email" })
  }).pipe(Effect.provide(clientAbove(Testing.reply({ status: 502, body: "<html>" })))))

it.effect("is retried after a connection that was refused", () =>
  Effect.gen(function*() {
    const job = yield* sendVerificationEmail({ user_id: "auth0|1" })
    assert.strictEqual(job.status, "pending")
  }).pipe(
    Retry.withPolicy({ delay: 0 }),
    Effect.provide(clientAbove(
      Testing.noReply("ECONNREFUSED"),
      Testing.reply({ body: { id: "job_1", status: "pending" } })
    ))
  ))

const pageOf = (...names: ReadonlyArray<string>) =>
  Testing.reply({ body: { total: 3, roles: names.map((name) => ({ id: `id-${name}`, name })) } })

it.live("streams all pages", () =>
  Effect.gen(function*() {
    assert.deepStrictEqual(Chunk.toReadonlyArray(yield* names), ["admin", "editor", "reader"])
    assert.deepStrictEqual((yield* Testing.requests).map(({ url }) => url.split("?")[1]), [
      "per_page=2",
      "page=1&per_page=2"
    ])
  }).pipe(Effect.provide(clientAbove(pageOf("admin", "editor"), pageOf("reader")))))

it.effect("changes a user, with null to clear a field", () =>
  Effect.gen(function*() {
    yield* updateUser({ id: "auth0|1", nickname: null, "auth0-custom-domain": "login.example.com" })
    const [request] = yield* Testing.requests
    assert.strictEqual(request?.headers["auth0-custom-domain"], "login.example.com")
    assert.deepInclude(request?.body, { body: new TextEncoder().encode("{\"nickname\":null}") })
  }).pipe(Effect.provide(clientAbove(Testing.reply({ body: { user_id: "auth0|1" } })))))

it.effect("sends a list and returns one", () =>
  Effect.gen(function*() {
    const body = [{ type: "email", email: "a@example.com" }] as const
    assert.deepStrictEqual(yield* setAuthenticationMethods({ id: "auth0|1", body }), body)
  }).pipe(Effect.provide(clientAbove(Testing.reply({ body: [{ type: "email", email: "a@example.com" }] })))))

it.live("streams a list that goes on by checkpoint", () =>
  Effect.gen(function*() {
    const users = yield* Stream.runCollect(Pagination.stream(listRoleUsers, { id: "rol_1", take: 1 }))
    assert.deepStrictEqual(Chunk.toReadonlyArray(users).map(({ user_id }) => user_id), ["a", "b"])
    assert.deepStrictEqual((yield* Testing.requests).map(({ url }) => url.split("?")[1]), ["take=1", "from=x&take=1"])
  }).pipe(Effect.provide(clientAbove(
    Testing.reply({ body: { next: "x", users: [{ user_id: "a" }] } }),
    Testing.reply({ body: { users: [{ user_id: "b" }] } })
  ))))

it.effect("follows a log", () =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(Stream.runCollect(Stream.take(eventsAfter("a"), 3)))
    yield* TestClock.adjust("1 minute")
    const events = yield* Fiber.join(fiber)
    assert.deepStrictEqual(Chunk.toReadonlyArray(events).map(({ log_id }) => log_id), ["b", "c", "d"])
    assert.deepStrictEqual((yield* Testing.requests).map(({ url }) => url.split("?")[1]), [
      "from=a&take=100",
      "from=c&take=100",
      "from=c&take=100"
    ])
  }).pipe(Effect.provide(clientAbove(
    Testing.reply({ body: [{ log_id: "b", type: "s" }, { log_id: "c", type: "f" }] }),
    Testing.reply({ body: [] }),
    Testing.reply({ body: [{ log_id: "d", type: "s" }] })
  ))))

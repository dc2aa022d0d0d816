/** Operations that the contract does not have, and a client of a tenant that serves them. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Errors from "../../../src/Errors.js"
import * as IdentityClient from "../../../src/IdentityClient.js"
import * as Operation from "../../../src/Operation.js"
import * as RateLimiter from "../../../src/RateLimiter.js"
import * as Retry from "../../../src/Retry.js"
import { integer, omittable, oneOf, string } from "../../../src/Schemas.js"
import * as Tenant from "../../../src/Tenant.js"
import { Timestamp } from "../../../src/Timestamp.js"
import * as TokenProvider from "../../../src/TokenProvider.js"

const { BadRequest, Conflict, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } = Errors

export const User = Schema.Struct({
  user_id: Schema.String,
  email: omittable(Schema.String),
  status: oneOf("active", "blocked"),
  created_at: omittable(Timestamp),
  logins: omittable(Schema.Number)
}).annotations({ identifier: "User" })

export const getUser = Operation.make("getUser", () => ({
  method: "GET",
  path: "/users/:id",
  params: { id: Schema.String },
  query: { fields: Schema.optional(Schema.Array(Schema.String)) },
  success: User,
  scope: "read:users",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))

export const createUser = Operation.make("createUser", () => ({
  method: "POST",
  path: "/users",
  payload: { email: string({ min: 3, max: 20 }), logins: Schema.optional(integer({ min: 0 })) },
  success: User,
  scope: "create:users",
  idempotent: false,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, Conflict, RateLimited]
}))

export const deleteUser = Operation.make("deleteUser", () => ({
  method: "DELETE",
  path: "/users/:id",
  params: { id: Schema.String },
  scope: "delete:users",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))

export const listUsers = Operation.make("listUsers", () => ({
  method: "GET",
  path: "/users",
  query: { page: Schema.optional(integer({ min: 0 })), per_page: Schema.optional(integer({ min: 1 })) },
  success: Schema.Struct({
    start: Schema.Number,
    limit: Schema.Number,
    total: Schema.Number,
    next: omittable(Schema.String),
    users: Schema.Array(User)
  }),
  items: "users",
  scope: "read:users",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))

/** Any of two scopes, a header, and a whole body that may be absent. */
export const putTags = Operation.make("putTags", () => ({
  method: "PUT",
  path: "/users/:id/tags",
  params: { id: Schema.String },
  headers: { "x-domain": Schema.optional(string({ max: 5 })) },
  body: Schema.UndefinedOr(Schema.Array(Schema.Struct({ name: Schema.String, size: Schema.optional(Schema.Number) }))),
  success: Schema.Array(Schema.Struct({ name: Schema.String })),
  scope: ["update:users", "update:tags"],
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))

/** No scope, and a multipart body. */
export const importUsers = Operation.make("importUsers", () => ({
  method: "POST",
  path: "/imports",
  multipart: {
    users: Schema.Struct({
      name: Schema.String,
      contentType: Schema.optional(Schema.String),
      content: Schema.Uint8ArrayFromSelf
    }),
    upsert: Schema.optional(Schema.Boolean),
    external_id: Schema.optional(Schema.String)
  },
  success: Schema.NullOr(Schema.Number),
  scope: [],
  idempotent: false,
  error: [BadRequest, Unauthorized, Forbidden, RateLimited]
}))

export const added = { putTags, importUsers, getUser, createUser, deleteUser, listUsers, User }

/** A client of the tenant with this base URL. It does not retry. */
export const clientOf = (baseUrl: string, client: Tenant.Client = Tenant.demoClients.full) =>
  IdentityClient.layer({ baseUrl: `${baseUrl}/api/v2` }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerClientCredentials({
      authUrl: baseUrl,
      clientId: client.id,
      clientSecret: client.secret
    }))
  )

/** Runs an effect with a client of a tenant in process. */
export const withTenant = <A, E>(
  run: Effect.Effect<A, E, IdentityClient.IdentityClient | Tenant.Tenant>,
  options: Tenant.Options = {},
  client?: Tenant.Client
) =>
  Retry.withoutRetries(run).pipe(Effect.provide(
    clientOf("https://tenant.test", client).pipe(
      Layer.provide(Tenant.layerHttpClient),
      Layer.provideMerge(Tenant.layerWith({ operations: added, ...options }))
    )
  ))

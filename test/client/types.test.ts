/** Tests of types: what compiles, what does not, and what the editor shows. The compiler runs inside the tests. */
import { assert, describe, it } from "@effect/vitest"
import { type Config, Effect, type Either, type Redacted, Schema, type Stream } from "effect"
import ts from "typescript"
import {
  createUsersExport,
  deleteEventStream,
  type Endpoint,
  Errors,
  type IdentityClient,
  listActionVersions,
  Operation,
  Pagination,
  redeliverEvent,
  type Timestamp,
  type updateTokenExchangeProfile
} from "../../src/index.js"
import type { ActionVersion, ActionVersions, Job, TokenExchangeProfile, UsersExportJob } from "../../src/index.js"
import { File } from "../../src/internal/schema/file.js"
import * as Testing from "../../src/Testing.js"
import * as TokenProvider from "../../src/TokenProvider.js"

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

/** Compiles only if both types are the same. */
const same: <A, B>(...fault: Same<A, B> extends true ? [] : [expected: B, found: A]) => void = () => {}

type Requirements<Op extends (input: never) => Effect.Effect<unknown, unknown, unknown>> = Effect.Effect.Context<
  ReturnType<Op>
>

type Common =
  | Errors.ClientError
  | Errors.Unauthorized
  | Errors.InsufficientScope
  | Errors.Forbidden
  | Errors.RateLimited

class Gone extends Errors.statusError("Gone", 410) {}

const shared = { method: "GET", scope: "read:things", idempotent: true, error: [Errors.RateLimited] } as const

/** Code for the compiler, which never runs. Each entry is a test below. */
const laws: Readonly<Record<string, () => void>> = {
  "createUsersExport fails with 400, 401, 403, 429 and ClientError": () => {
    same<Operation.Failure<typeof createUsersExport>, Common | Errors.BadRequest>()
  },
  "updateTokenExchangeProfile fails with 404 and 409 as well": () => {
    same<
      Operation.Failure<typeof updateTokenExchangeProfile>,
      Common | Errors.BadRequest | Errors.NotFound | Errors.Conflict
    >()
  },
  "listActionVersions fails with 400, 401, 403, 404, 429 and ClientError": () => {
    same<Operation.Failure<typeof listActionVersions>, Common | Errors.BadRequest | Errors.NotFound>()
  },
  "redeliverEvent fails with 400, 404 and 409 as well": () => {
    same<Operation.Failure<typeof redeliverEvent>, Common | Errors.BadRequest | Errors.NotFound | Errors.Conflict>()
  },
  "deleteEventStream fails with 400, 401, 403, 429 and ClientError": () => {
    same<Operation.Failure<typeof deleteEventStream>, Common | Errors.BadRequest>()
  },
  "ClientError is a union of four classes": () => {
    same<
      Errors.ClientError,
      Errors.InvalidInput | Errors.TokenError | Errors.TransportError | Errors.UnexpectedResponse
    >()
  },
  "Input, Success and Failure are the types of any operation": () => {
    type Deletion = typeof deleteEventStream
    same<Operation.Input<Deletion>, { readonly id: string }>()
    same<Operation.Success<Deletion>, void>()
    same<
      Operation.Failure<Deletion>,
      | Errors.BadRequest
      | Errors.Unauthorized
      | Errors.InsufficientScope
      | Errors.Forbidden
      | Errors.RateLimited
      | Errors.InvalidInput
      | Errors.TokenError
      | Errors.TransportError
      | Errors.UnexpectedResponse
    >()
    same<Operation.Success<typeof listActionVersions>, ActionVersions>()
    // @ts-expect-error: not an operation
    same<Operation.Input<(input: string) => string>, string>()
  },
  "every operation requires the client and nothing else": () => {
    same<Requirements<typeof createUsersExport>, IdentityClient.IdentityClient>()
    same<Requirements<typeof updateTokenExchangeProfile>, IdentityClient.IdentityClient>()
    same<Requirements<typeof listActionVersions>, IdentityClient.IdentityClient>()
    same<Requirements<typeof redeliverEvent>, IdentityClient.IdentityClient>()
    same<Requirements<typeof deleteEventStream>, IdentityClient.IdentityClient>()
  },
  "inputs have the contract's fields in one object, and optional fields may be undefined": () => {
    same<Operation.Input<typeof createUsersExport>, {
      readonly connection_id?: string | undefined
      readonly format?: "json" | "csv" | undefined
      readonly limit?: number | undefined
      readonly fields?: ReadonlyArray<{ readonly name: string; readonly export_as?: string | undefined }> | undefined
    }>()
    same<Operation.Input<typeof updateTokenExchangeProfile>, {
      readonly id: string
      readonly name?: string | undefined
      readonly subject_token_type?: string | undefined
    }>()
    same<Operation.Input<typeof listActionVersions>, {
      readonly actionId: string
      readonly page?: number | undefined
      readonly per_page?: number | undefined
    }>()
    same<Operation.Input<typeof redeliverEvent>, { readonly id: string; readonly event_id: string }>()
    same<Operation.Input<typeof deleteEventStream>, { readonly id: string }>()
  },
  "successes are the contract's resources, or void": () => {
    same<Operation.Success<typeof createUsersExport>, UsersExportJob>()
    same<Operation.Success<typeof updateTokenExchangeProfile>, TokenExchangeProfile | undefined>()
    same<Operation.Success<typeof listActionVersions>, ActionVersions>()
    same<Operation.Success<typeof redeliverEvent>, void>()
    same<Operation.Success<typeof deleteEventStream>, void>()
  },
  "a misspelt field of a response does not compile, though jobs keep unknown fields": () => {
    // @ts-expect-error: `status`
    same<UsersExportJob["statuss"], unknown>()
    // @ts-expect-error: `status`
    same<Job["statuss"], unknown>()
    // @ts-expect-error: `number`
    same<ActionVersion["numbr"], unknown>()
  },
  "an open enumeration is any string, and the editor completes the known ones": () => {
    same<UsersExportJob["status"], "pending" | "processing" | "completed" | "failed" | (string & {})>()
    const status: UsersExportJob["status"] = "of a later version"
    const text: string = status
    void text
  },
  "optional fields of a response are absent or of their type, never undefined": () => {
    same<
      Pick<ActionVersion, "number" | "built_at">,
      { readonly number?: number; readonly built_at?: Timestamp.Timestamp }
    >()
    same<Pick<ActionVersions, "page" | "total">, { readonly page?: number; readonly total?: number }>()
  },
  "catchTag of an undeclared failure does not compile": () => {
    // @ts-expect-error: deleting has no NotFound
    void deleteEventStream({ id: "" }).pipe(Effect.catchTag("NotFound", () => Effect.void))
    // @ts-expect-error: an export has no Conflict
    void createUsersExport({}).pipe(Effect.catchTag("Conflict", () => Effect.void))
    // @ts-expect-error: a list of versions has no Conflict
    void listActionVersions({ actionId: "" }).pipe(Effect.catchTag("Conflict", () => Effect.void))
  },
  "catchTags removes exactly the caught errors from the union": () => {
    const caught = redeliverEvent({ id: "", event_id: "" }).pipe(
      Effect.catchTags({ NotFound: () => Effect.void, Conflict: () => Effect.void })
    )
    same<Effect.Effect.Error<typeof caught>, Common | Errors.BadRequest>()
  },
  "status, tag and source have literal types": () => {
    same<Errors.NotFound["status"], 404>()
    same<Errors.NotFound["_tag"], "NotFound">()
    same<Errors.RateLimited["source"], "service" | "limiter">()
    same<Gone["status"], 410>()
  },
  "an input of the wrong shape does not compile": () => {
    // @ts-expect-error: not a format
    void createUsersExport({ format: "xml" })
    // @ts-expect-error: an export field requires a name
    void createUsersExport({ fields: [{ export_as: "E-mail" }] })
    // @ts-expect-error: an unknown field
    void deleteEventStream({ id: "", force: true })
    // @ts-expect-error: the event's id is missing
    void redeliverEvent({ id: "" })
    // @ts-expect-error: a page is a number
    void listActionVersions({ actionId: "", page: "1" })
  },
  "the types of an operation follow from its declaration": () => {
    const uploadWidget = Operation.make("uploadWidget", () => ({
      method: "PUT",
      path: "/widgets/:widget_id/parts/:part",
      params: { widget_id: Schema.String, part: Schema.String },
      query: { overwrite: Schema.optional(Schema.Boolean), page: Schema.optional(Schema.Number) },
      payload: { title: Schema.String },
      success: Schema.Struct({ id: Schema.String, versions: Schema.Array(Schema.Number) }),
      items: "versions",
      scope: "update:widgets",
      idempotent: true,
      error: [Gone, Errors.RateLimited]
    }))
    same<
      typeof uploadWidget,
      Operation.Paged<
        {
          readonly widget_id: string
          readonly part: string
          readonly overwrite?: boolean | undefined
          readonly page?: number | undefined
          readonly title: string
        },
        { readonly id: string; readonly versions: ReadonlyArray<number> },
        Gone | Errors.RateLimited,
        "versions"
      >
    >()
  },
  "a declaration may be a function, with the same types and the same checks": () => {
    const thing = Operation.make("thing", () => ({
      ...shared,
      path: "/a/:id",
      params: { id: Schema.String },
      query: { page: Schema.optional(Schema.Number) },
      success: Schema.Struct({ things: Schema.Array(Schema.String) }),
      items: "things"
    }))
    same<
      typeof thing,
      Operation.Paged<
        { readonly id: string; readonly page?: number | undefined },
        { readonly things: ReadonlyArray<string> },
        Errors.RateLimited,
        "things"
      >
    >()
    // @ts-expect-error: no placeholder
    Operation.make("bad", () => ({ ...shared, path: "/a", params: { id: Schema.String } }))
    // @ts-expect-error: no RateLimited
    Operation.make("bad", () => ({ ...shared, path: "/a", error: [] }))
    // @ts-expect-error: not a string
    Operation.make("bad", () => ({ ...shared, path: "/a", scope: 1 }))
  },
  "a field that no declaration has does not compile": () => {
    // @ts-expect-error: misspelt
    Operation.make("bad", () => ({ ...shared, path: "/a", querry: { id: Schema.String } }))
    // @ts-expect-error: likewise
    Operation.make("bad", () => ({ ...shared, path: "/a", querry: { id: Schema.String } }))
  },
  "any of several scopes, or none, can be declared": () => {
    Operation.make("fine", () => ({ ...shared, path: "/a", scope: ["read:users", "read:user_idp_tokens"] }))
    Operation.make("fine", () => ({ ...shared, path: "/a", scope: [] }))
    // @ts-expect-error: a number among them
    Operation.make("bad", () => ({ ...shared, path: "/a", scope: ["read:users", 1] }))
  },
  "header parameters are strings with names in lower case, in the input like all fields": () => {
    const headers = { "auth0-custom-domain": Schema.optional(Schema.String) }
    const create = Operation.make("create", () => ({ ...shared, path: "/a", headers }))
    same<Operation.Input<typeof create>, { readonly "auth0-custom-domain"?: string | undefined }>()
    // @ts-expect-error: not in lower case
    Operation.make("bad", () => ({ ...shared, path: "/a", headers: { Accept: Schema.String } }))
    // @ts-expect-error: a number
    Operation.make("bad", () => ({ ...shared, path: "/a", headers: { "x-a": Schema.Number } }))
    // @ts-expect-error: a name of the query, too
    Operation.make("bad", () => ({ ...shared, path: "/a", headers, query: headers }))
  },
  "a check of the input accepts each input": () => {
    const payload = { a: Schema.String, b: Schema.optional(Schema.String) }
    const check = ({ a, b }: { readonly a: string; readonly b?: string | undefined }) =>
      a === b ? [{ path: "b", message: "expected another" }] : []
    Operation.make("fine", () => ({ ...shared, method: "POST", path: "/a", payload, check }))
    const ofBoth = ({ b }: { readonly b: string }) => [{ path: b, message: "" }]
    // @ts-expect-error: `b` may be absent
    Operation.make("bad", () => ({ ...shared, method: "POST", path: "/a", payload, check: ofBoth }))
  },
  "a whole body is the field `body` of the input, which is optional if the schema accepts undefined": () => {
    const list = Operation.make("list", () => ({ ...shared, path: "/a", body: Schema.Array(Schema.String) }))
    same<Operation.Input<typeof list>, { readonly body: ReadonlyArray<string> }>()
    const body = Schema.UndefinedOr(Schema.NullOr(Schema.Struct({ a: Schema.String })))
    const nullable = Operation.make("nullable", () => ({ ...shared, path: "/a", body }))
    same<Operation.Input<typeof nullable>, { readonly body?: { readonly a: string } | null | undefined }>()
    // @ts-expect-error: transforms
    Operation.make("bad", () => ({ ...shared, path: "/a", body: Schema.Array(Schema.NumberFromString) }))
    // @ts-expect-error: two bodies
    Operation.make("bad", () => ({ ...shared, path: "/a", body, payload: { b: Schema.String } }))
    // @ts-expect-error: a field of the same name
    Operation.make("bad", () => ({ ...shared, path: "/a", body, query: { body: Schema.String } }))
  },
  "a multipart body has strings, numbers, booleans and files": () => {
    const multipart = { users: File, upsert: Schema.optional(Schema.Boolean) }
    const upload = Operation.make("upload", () => ({ ...shared, path: "/a", multipart }))
    same<Operation.Input<typeof upload>, { readonly users: File; readonly upsert?: boolean | undefined }>()
    // @ts-expect-error: a list
    Operation.make("bad", () => ({ ...shared, path: "/a", multipart: { tags: Schema.Array(Schema.String) } }))
    // @ts-expect-error: two bodies
    Operation.make("bad", () => ({ ...shared, path: "/a", multipart, payload: { b: Schema.String } }))
  },
  "a success may have any shape": () => {
    const success = Schema.Union(Schema.Array(Schema.String), Schema.Struct({ total: Schema.Number }))
    const get = Operation.make("get", () => ({ ...shared, path: "/a", success }))
    same<Operation.Success<typeof get>, ReadonlyArray<string> | { readonly total: number }>()
    const count = Operation.make("count", () => ({ ...shared, path: "/a", success: Schema.NullOr(Schema.Number) }))
    same<Operation.Success<typeof count>, number | null>()
    // @ts-expect-error: transforms
    Operation.make("bad", () => ({ ...shared, path: "/a", success: Schema.NumberFromString }))
  },
  "server-sent events make a stream of them": () => {
    const events = Schema.Struct({ offset: Schema.Number })
    const subscribe = Operation.make("subscribe", () => ({ ...shared, path: "/a", events }))
    same<
      ReturnType<typeof subscribe>,
      Stream.Stream<
        Operation.ServerSentEvent<{ readonly offset: number }>,
        Errors.RateLimited | Errors.ClientError,
        IdentityClient.IdentityClient
      >
    >()
    same<Operation.Input<typeof subscribe>, {}>()
    same<Operation.Success<typeof subscribe>, Operation.ServerSentEvent<{ readonly offset: number }>>()
    same<Operation.Failure<typeof subscribe>, Errors.RateLimited | Errors.ClientError>()
    // @ts-expect-error: either a success or events
    Operation.make("bad", () => ({ ...shared, path: "/a", events, success: events }))
    // @ts-expect-error: transforms
    Operation.make("bad", () => ({ ...shared, path: "/a", events: Schema.NumberFromString }))
  },
  "lists that go on by checkpoint need `from` and `take`, and a list in each success": () => {
    const query = { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Number) }
    const list = Schema.Array(Schema.Struct({ id: Schema.String }))
    const bare = Operation.make("bare", () => ({ ...shared, path: "/a", query, success: list, paging: "checkpoint" }))
    same<
      ReturnType<
        typeof Pagination.stream<
          Operation.Input<typeof bare>,
          ReadonlyArray<{ readonly id: string }>,
          Errors.RateLimited,
          never
        >
      >,
      Stream.Stream<{ readonly id: string }, Errors.RateLimited | Errors.ClientError, IdentityClient.IdentityClient>
    >()
    const items = Pagination.stream(bare, { take: 10 })
    same<Stream.Stream.Success<typeof items>, { readonly id: string }>()
    const forms = Schema.Union(list, Schema.Struct({ next: Schema.String, users: list }))
    const both = Operation.make("both", () => ({
      ...shared,
      path: "/a",
      query: { ...query, page: Schema.optional(Schema.Number) },
      success: forms,
      items: "users",
      paging: "both"
    }))
    const mixed = Pagination.stream(both, {})
    same<Stream.Stream.Success<typeof mixed>, { readonly id: string }>()
    // @ts-expect-error: no checkpoint in the query
    Operation.make("bad", () => ({ ...shared, path: "/a", success: list, paging: "checkpoint" }))
    // @ts-expect-error: an object without `items`
    Operation.make("bad", () => ({ ...shared, path: "/a", query, success: forms, paging: "checkpoint" }))
    // @ts-expect-error: no such way
    Operation.make("bad", () => ({ ...shared, path: "/a", query, success: list, paging: "cursor" }))
  },
  "lists whose pages have numbers need `page`": () => {
    const [list, success] = [Schema.Array(Schema.String), Schema.Struct({ things: Schema.Array(Schema.String) })]
    const page = Schema.optional(Schema.Number)
    const checkpoints = { from: Schema.optional(Schema.String), take: Schema.optional(Schema.Number) }
    const fine = Operation.make("fine", () => ({ ...shared, path: "/a", query: { page }, success, items: "things" }))
    void Pagination.stream(fine, {})
    // @ts-expect-error: no query
    Operation.make("bad", () => ({ ...shared, path: "/a", success, items: "things" }))
    // @ts-expect-error: no number of the page
    Operation.make("bad", () => ({ ...shared, path: "/a", query: { per_page: page }, success: list, paging: "number" }))
    // @ts-expect-error: only checkpoints
    Operation.make("bad", () => ({ ...shared, path: "/a", query: checkpoints, success: list, paging: "both" }))
    Operation.make("fine", () => ({
      ...shared,
      method: "POST",
      path: "/a",
      payload: { page },
      success: list,
      paging: "number"
    }))
  },
  "a placeholder without a parameter does not compile": () => {
    Operation.make("fine", () => ({ ...shared, path: "/a/:id", params: { id: Schema.String } }))
    Operation.make("fine", () => ({ ...shared, path: "/a/:id", params: { id: Schema.Literal("duo", "sms") } }))
    // @ts-expect-error: `other` has no parameter
    Operation.make("bad", () => ({ ...shared, path: "/a/:id/b/:other", params: { id: Schema.String } }))
    // @ts-expect-error: no placeholder has a parameter
    Operation.make("bad", () => ({ ...shared, path: "/a/:id" }))
  },
  "a parameter without a placeholder does not compile": () => {
    // @ts-expect-error: `other` has no placeholder
    Operation.make("bad", () => ({ ...shared, path: "/a/:id", params: { id: Schema.String, other: Schema.String } }))
    // @ts-expect-error: the path has no placeholder
    Operation.make("bad", () => ({ ...shared, path: "/a", params: { id: Schema.String } }))
  },
  "a parameter that is optional or not a string does not compile": () => {
    // @ts-expect-error: an optional parameter
    Operation.make("bad", () => ({ ...shared, path: "/a/:id", params: { id: Schema.optional(Schema.String) } }))
    // @ts-expect-error: a number
    Operation.make("bad", () => ({ ...shared, path: "/a/:id", params: { id: Schema.Number } }))
  },
  "parts of the input that share a name do not compile": () => {
    const params = { id: Schema.String }
    // @ts-expect-error: path and query
    Operation.make("bad", () => ({ ...shared, path: "/a/:id", params, query: { id: Schema.String } }))
    // @ts-expect-error: path and payload
    Operation.make("bad", () => ({ ...shared, path: "/a/:id", params, payload: { id: Schema.String } }))
    const twice = { query: { id: Schema.String }, payload: { id: Schema.String } }
    // @ts-expect-error: query and payload
    Operation.make("bad", () => ({ ...shared, path: "/a", ...twice }))
  },
  "a field whose schema transforms its value does not compile": () => {
    // @ts-expect-error: a string in JSON, a number in the input
    Operation.make("bad", () => ({ ...shared, path: "/a", payload: { n: Schema.NumberFromString } }))
    // @ts-expect-error: a string in the query, a Date in the input
    Operation.make("bad", () => ({ ...shared, path: "/a", query: { at: Schema.NumberFromString } }))
  },
  "a list of errors without RateLimited does not compile": () => {
    // @ts-expect-error: the limiter may fail any call
    Operation.make("bad", () => ({ ...shared, path: "/a", error: [Errors.BadRequest] }))
    // @ts-expect-error: an empty one
    Operation.make("bad", () => ({ ...shared, path: "/a", error: [] }))
  },
  "an invalid path, scope, method or error class does not compile": () => {
    // @ts-expect-error: no slash
    Operation.make("bad", () => ({ ...shared, path: "a" }))
    // @ts-expect-error: no scope
    Operation.make("bad", () => ({ ...shared, path: "/a", scope: undefined }))
    // @ts-expect-error: no such method
    Operation.make("bad", () => ({ ...shared, path: "/a", method: "HEAD" }))
    // @ts-expect-error: InvalidInput has no status
    Operation.make("bad", () => ({ ...shared, path: "/a", error: [Errors.RateLimited, Errors.InvalidInput] }))
  },
  "items that name no field of the success do not compile": () => {
    const query = { page: Schema.optional(Schema.Number) }
    const success = Schema.Struct({ things: Schema.Array(Schema.String) })
    Operation.make("fine", () => ({ ...shared, path: "/a", query, success, items: "things" }))
    // @ts-expect-error: no such field
    Operation.make("bad", () => ({ ...shared, path: "/a", query, success, items: "items" }))
  },
  "items that name no list do not compile": () => {
    const query = { page: Schema.optional(Schema.Number) }
    const success = Schema.Struct({
      total: Schema.Number,
      things: Schema.optionalWith(Schema.Array(Schema.String), { exact: true })
    })
    Operation.make("fine", () => ({ ...shared, path: "/a", query, success, items: "things" }))
    // @ts-expect-error: a number
    Operation.make("bad", () => ({ ...shared, path: "/a", query, success, items: "total" }))
  },
  "Pagination streams the items of pages, with the operation's failures": () => {
    const versions = Pagination.stream(listActionVersions, { actionId: "x", per_page: 50 })
    same<
      typeof versions,
      Stream.Stream<ActionVersion, Operation.Failure<typeof listActionVersions>, IdentityClient.IdentityClient>
    >()
    const checked = Pagination.streamEither(listActionVersions, { actionId: "x" })
    same<
      typeof checked,
      Stream.Stream<
        Either.Either<ActionVersion, Pagination.UndecodableItem>,
        Operation.Failure<typeof listActionVersions>,
        IdentityClient.IdentityClient
      >
    >()
    // @ts-expect-error: the action is missing
    void Pagination.stream(listActionVersions, { page: 1 })
    // @ts-expect-error: an unknown field
    void Pagination.stream(listActionVersions, { actionId: "x", size: 1 })
  },
  "only paged operations can be streamed": () => {
    // @ts-expect-error: it returns a job
    void Pagination.stream(createUsersExport, {})
    // @ts-expect-error: it returns nothing
    void Pagination.streamEither(deleteEventStream, { id: "x" })
  },
  "an operation without input takes an empty object": () => {
    const ping = Operation.make("ping", () => ({ ...shared, path: "/ping" }))
    void ping({})
    // @ts-expect-error: not an object
    void ping(undefined)
  },
  "a handler of Testing receives the operation's input": () => {
    Testing.handle(deleteEventStream, (input) => {
      same<typeof input, { readonly id: string }>()
      return Effect.void
    })
    // @ts-expect-error: no such field
    Testing.handle(deleteEventStream, (input) => Effect.log(input.event_id))
  },
  "a handler of Testing must succeed with the operation's success": () => {
    Testing.handle(createUsersExport, () => Effect.succeed({ id: "1", type: "users_export", status: "pending" }))
    // @ts-expect-error: the status is missing
    Testing.handle(createUsersExport, () => Effect.succeed({ id: "1", type: "users_export" }))
  },
  "a handler of Testing can fail only with the operation's failures": () => {
    const failure = { operation: "redeliverEvent", message: "No." }
    Testing.handle(redeliverEvent, () => Effect.fail(new Errors.NotFound(failure)))
    // @ts-expect-error: NotFound is not declared
    // @effect-diagnostics-next-line missingEffectError:off
    Testing.handle(deleteEventStream, () => Effect.fail(new Errors.NotFound(failure)))
  },
  "a mock client needs only execute": () => {
    const client: IdentityClient.IdentityClient["Type"] = { execute: () => Effect.die("never") }
    same<
      typeof client.execute,
      <Input, Success, Failure>(
        endpoint: Endpoint.Endpoint<Input, Success, Failure>,
        input: Input
      ) => Effect.Effect<Success, Failure | Errors.ClientError>
    >()
  },
  "a timestamp is a string, but a string is not a timestamp": () => {
    const version: ActionVersion = {}
    const text: string | undefined = version.built_at
    // @ts-expect-error: not branded
    const stamp: Timestamp.Timestamp = text ?? ""
    same<ReturnType<typeof Timestamp.toDateTime>["_tag"], "None" | "Some">()
    return stamp
  }
}

/** A program; the tests hover over parts of it. */
const program = `
import { createUsersExport, deleteEventStream, listActionVersions, redeliverEvent, updateTokenExchangeProfile } from "../../src/index.js"
import type { Errors, Operation } from "../../src/index.js"
export const calls = [
  createUsersExport({ format: "csv" }),
  updateTokenExchangeProfile({ id: "x", name: "A name" }),
  listActionVersions({ actionId: "x" }),
  redeliverEvent({ id: "x", event_id: "y" }),
  deleteEventStream({ id: "x" })
]
export const one = deleteEventStream.endpoint
export type DeleteInput = Operation.Input<typeof deleteEventStream>
export type DeleteSuccess = Operation.Success<typeof deleteEventStream>
export type DeleteFailure = Operation.Failure<typeof deleteEventStream>
export type Job = Operation.Success<typeof createUsersExport>
export const notFound = (error: Errors.NotFound) =>
  [error._tag, error.status, error.operation, error.message, error.errorCode, error.requestId, error.retryAfter, error.raw]
export const rateLimited = (error: Errors.RateLimited) =>
  [error.source, error.limit, error.remaining, error.resetAt]
export const scope = (error: Errors.InsufficientScope) => error.required
export const isOver = (job: Job) => job.status === "completed"
`

/** Declarations with a mistake, and the part of the error that names what is wrong. */
const mistakes: Readonly<Record<string, string>> = {
  "path: \"/a/:id\"": "Property 'params' is missing",
  "path: \"/a\", params: { id: Schema.String }": "a field of `params` has no placeholder in `path`",
  "path: \"/a\", error: []": "`error` must include RateLimited",
  "path: \"/a\", method: \"HEAD\"": "'\"HEAD\"' is not assignable",
  "path: \"/a\", query: { at: Schema.NumberFromString }": "schemas of the request must not transform",
  "path: \"/a\", sucess: Schema.String": "a field of the declaration is unknown"
}

/** A program with all of them, a line each. */
const mistaken = [
  "import { Schema } from \"effect\"",
  "import { Errors, Operation } from \"../../src/index.js\"",
  "const shared = { method: \"GET\", scope: \"read:a\", idempotent: true, error: [Errors.RateLimited] } as const",
  ...Object.keys(mistakes).map((fields) => `Operation.make("bad", () => ({ ...shared, ${fields} }))`)
].join("\n")

const fileName = (url: string) => ts.sys.resolvePath(decodeURIComponent(new URL(url, import.meta.url).pathname))

/** A compiler of this file and the program, with the settings of the repository. */
const load = () => {
  const root = fileName("../..")
  const self = fileName("types.test.ts")
  const virtual = fileName("program.ts")
  const wrong = fileName("wrong.ts")
  const texts = new Map([[virtual, program], [wrong, mistaken]])
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} }
  const options = { ...ts.getParsedCommandLineOfConfigFile(fileName("../../tsconfig.json"), {}, host)?.options }
  const readFile = (file: string) => texts.get(file) ?? ts.sys.readFile(file)
  const service = ts.createLanguageService({
    readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    fileExists: (file) => texts.has(file) || ts.sys.fileExists(file),
    getScriptFileNames: () => [self, ...texts.keys()],
    getScriptVersion: () => "1",
    getScriptSnapshot: (file) => {
      const text = readFile(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCompilationSettings: () => options,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath
  })
  return { self, service, virtual, wrong }
}

let loaded: ReturnType<typeof load> | undefined
const compiler = () => loaded ??= load()

const diagnostics = (file: string) => {
  const { service } = compiler()
  return [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map((
    { messageText, start = 0 }
  ) => ({
    start,
    text: ts.flattenDiagnosticMessageText(messageText, "\n")
  }))
}

/** The position of a law in this file. */
const span = (name: string) => {
  const { self, service } = compiler()
  const find = (node: ts.Node): ts.Node | undefined =>
    ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name) && node.name.text === name
      ? node
      : ts.forEachChild(node, find)
  const source = service.getProgram()?.getSourceFile(self)
  return (source && find(source)) ?? assert.fail(name)
}

/** The text that the editor shows at the first occurrence of a text, with unions in alphabetical order. */
const hover = (text: string): string => {
  const { service, virtual } = compiler()
  const start = program.indexOf(text)
  const info = service.getQuickInfoAtPosition(virtual, start + text.lastIndexOf(".") + 1)
  return ts.displayPartsToString(info?.displayParts).replace(
    /Errors\.\w+(?: \| Errors\.\w+)+/g,
    (union) => union.split(" | ").map((name) => name.replace("Errors.", "")).sort().join(" | ")
  )
}

describe("the compiler", () => {
  it.each(Object.keys(laws))("%s", (name) => {
    const { end, pos } = span(name)
    assert.deepStrictEqual(diagnostics(compiler().self).filter(({ start }) => start >= pos && start < end), [])
  })

  it("finds no fault in the rest of this file", () => {
    assert.deepStrictEqual(diagnostics(compiler().self), [])
  })

  it("finds no fault in the program", () => {
    assert.deepStrictEqual(diagnostics(compiler().virtual), [])
  })

  it.each(Object.entries(mistakes))("names what is wrong with %s", (fields, named) => {
    const found = diagnostics(compiler().wrong).filter(({ start }) =>
      mistaken.startsWith(
        `Operation.make("bad", () => ({ ...shared, ${fields} }`,
        mistaken.lastIndexOf("\n", start) + 1
      )
    )
    assert.lengthOf(found, 1)
    assert.include(found[0]?.text, named)
    assert.notInclude(found[0]?.text, "overload")
  })
})

const client = "ClientError"
const signatures: Readonly<Record<string, string>> = {
  createUsersExport: `(alias) createUsersExport(input: {
    readonly connection_id?: string | undefined;
    readonly format?: "json" | "csv" | undefined;
    readonly limit?: number | undefined;
    readonly fields?: readonly {
        readonly name: string;
        readonly export_as?: string | undefined;
    }[] | undefined;
}): Effect<UsersExportJob, BadRequest | ${client} | Forbidden | InsufficientScope | RateLimited | Unauthorized, IdentityClient>
import createUsersExport`,
  updateTokenExchangeProfile: `(alias) updateTokenExchangeProfile(input: {
    readonly id: string;
    readonly name?: string | undefined;
    readonly subject_token_type?: string | undefined;
}): Effect<TokenExchangeProfile | undefined, BadRequest | ${client} | Conflict | Forbidden | InsufficientScope | NotFound | RateLimited | Unauthorized, IdentityClient>
import updateTokenExchangeProfile`,
  listActionVersions: `(alias) listActionVersions(input: {
    readonly actionId: string;
    readonly page?: number | undefined;
    readonly per_page?: number | undefined;
}): Effect<ActionVersions, BadRequest | ${client} | Forbidden | InsufficientScope | NotFound | RateLimited | Unauthorized, IdentityClient>
import listActionVersions`,
  redeliverEvent: `(alias) redeliverEvent(input: {
    readonly id: string;
    readonly event_id: string;
}): Effect<void, BadRequest | ${client} | Conflict | Forbidden | InsufficientScope | NotFound | RateLimited | Unauthorized, IdentityClient>
import redeliverEvent`,
  deleteEventStream: `(alias) deleteEventStream(input: {
    readonly id: string;
}): Effect<void, BadRequest | ${client} | Forbidden | InsufficientScope | RateLimited | Unauthorized, IdentityClient>
import deleteEventStream`
}

const properties: Readonly<Record<string, string>> = {
  "error._tag": "(property) _tag: \"NotFound\"",
  "error.status": "(property) status: 404",
  "error.operation": "(property) ErrorDetails.operation: string",
  "error.message": "(property) message: string",
  "error.errorCode": "(property) ErrorDetails.errorCode?: string | undefined",
  "error.requestId": "(property) ErrorDetails.requestId?: string | undefined",
  "error.retryAfter": "(property) ErrorDetails.retryAfter?: Duration | undefined",
  "error.raw": "(property) ErrorDetails.raw?: Redacted<string> | undefined",
  "error.source": "(property) RateLimited.source: \"service\" | \"limiter\"",
  "error.limit": "(property) RateLimited.limit?: number | undefined",
  "error.remaining": "(property) RateLimited.remaining?: number | undefined",
  "error.resetAt": "(property) RateLimited.resetAt?: Utc | undefined",
  "error.required": "(property) InsufficientScope.required: readonly string[]"
}

const types: Readonly<Record<string, string>> = {
  DeleteInput: "type DeleteInput = {\n    readonly id: string;\n}",
  DeleteSuccess: "type DeleteSuccess = void",
  DeleteFailure:
    `type DeleteFailure = BadRequest | ${client} | Forbidden | InsufficientScope | RateLimited | Unauthorized`,
  Job: "type Job = UsersExportJob"
}

describe("the editor", () => {
  it.each(Object.keys(signatures))("shows the call of %s with its types", (name) => {
    assert.strictEqual(hover(`${name}({`), signatures[name])
  })

  it.each(Object.keys(properties))("shows %s with its type", (name) => {
    assert.strictEqual(hover(name), properties[name])
  })

  it.each(Object.keys(types))("expands the type %s", (name) => {
    assert.strictEqual(hover(name), types[name])
  })

  it("completes the known values of an open enumeration", () => {
    const { service, virtual } = compiler()
    const found = service.getCompletionsAtPosition(virtual, program.indexOf("completed\""), undefined)
    assert.includeMembers(found?.entries.map(({ name }) => name) ?? [], [
      "pending",
      "processing",
      "completed",
      "failed"
    ])
  })

  it.each([...Object.keys(signatures).map((name) => `${name}({`), ...Object.keys(properties), "one ="])(
    "shows no `any` and no internal type at %s",
    (text) => {
      assert.notMatch(
        hover(text),
        /\bany\b|\bnever\b|Simplify|Instance|Validated|Invalid\b|MergedInput|Declar|Placeholder|Fields|Types\.|Schema\.|typeof/
      )
    }
  )
})

describe("the settings of a client that proves itself", () => {
  const client = { domain: "t.example.com", clientId: "c" }
  const key = {} as Redacted.Redacted // sound: only types are tested
  const secret = {} as Config.Config<Redacted.Redacted> // sound: as above

  it("by a private key have a key or a function, not both", () => {
    const layers = () => [
      TokenProvider.layerPrivateKeyJwt({ ...client, privateKey: key, fallbackKeys: [{ privateKey: key, keyId: "k" }] }),
      TokenProvider.layerPrivateKeyJwt({ ...client, sign: Effect.succeed, algorithm: "PS256" }),
      // @ts-expect-error
      TokenProvider.layerPrivateKeyJwt({ ...client, privateKey: key, sign: Effect.succeed }),
      // @ts-expect-error
      TokenProvider.layerPrivateKeyJwt(client),
      // @ts-expect-error
      TokenProvider.layerPrivateKeyJwt({ ...client, privateKey: "a key that is not Redacted" }),
      // @ts-expect-error
      TokenProvider.layerPrivateKeyJwt({ ...client, privateKey: key, algorithm: "ES256" })
    ]
    assert.strictEqual(typeof layers, "function")
  })

  it("by a certificate have no secret", () => {
    // @ts-expect-error
    const layer = () => TokenProvider.layerMutualTls({ ...client, clientSecret: key })
    assert.strictEqual(typeof layer, "function")
  })

  it("can each come from a Config", () => {
    const { clientId, domain } = { clientId: {} as Config.Config<string>, domain: {} as Config.Config<string> } // sound: as above
    const layers = () => [
      TokenProvider.layerPrivateKeyJwtConfig({ clientId, domain, privateKey: secret }),
      TokenProvider.layerMutualTlsConfig({ clientId, domain })
    ]
    assert.strictEqual(typeof layers, "function")
  })

  it("give tokens that are Redacted, with a scheme", () => {
    same<Effect.Effect.Success<TokenProvider.TokenProvider["Type"]["get"]>, TokenProvider.AccessToken>()
    same<TokenProvider.AccessToken["scheme"], string | undefined>()
    assert.strictEqual(typeof same, "function")
  })
})

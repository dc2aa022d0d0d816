/** Turns one declaration into the function that users call, with the declaration attached as data. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Types from "effect/Types"
import type { Any, Endpoint, Fields, PagingKind } from "./Endpoint.js"
import type { ClientError, RateLimited, TransportError, UnexpectedResponse } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import type { ServerSentEvent } from "./internal/http/media/eventStream.js"
import type { File } from "./internal/schema/file.js"

/** A call of the interface: a function from input to Effect, with its description. @since 0.1.0 @category models */
export interface Operation<Input, Success, Failure> {
  (input: Input): Effect.Effect<Success, Failure | ClientError, IdentityClient>
  /** The name under which the operation is declared. To read it builds no schema. */
  readonly name: string
  /** The declaration as data: method, path, schemas, scope, errors. Its schemas are built when it is first read. */
  readonly endpoint: Endpoint<Input, Success, Failure>
}

/**
 * An operation that returns one page of a list. The field `Items` of its success holds the items of the page; it is `never`
 * if each success is a bare list.
 * @since 0.1.0 @category models
 */
export interface Paged<Input, Success, Failure, Items extends string> extends Operation<Input, Success, Failure> {
  readonly endpoint: Endpoint<Input, Success, Failure> & { readonly items?: Items; readonly paging: PagingKind }
}

/** The success of an endpoint with events. @since 0.1.0 @category models */
export type Events<Event> = Stream.Stream<ServerSentEvent<Event>, TransportError | UnexpectedResponse>

export type { ServerSentEvent } from "./internal/http/media/eventStream.js"

/**
 * An operation whose response is server-sent events. Its stream keeps the connection open until it ends or the program stops
 * reading; `IdentityClient.withTimeout` limits the time until the response begins. It does not connect again: a program that wants
 * to go on after a `TransportError` calls again, from the last event that it has seen.
 * @since 0.1.0 @category models
 */
export interface Subscription<Input, Event, Failure> {
  (input: Input): Stream.Stream<ServerSentEvent<Event>, Failure | ClientError, IdentityClient>
  /** The name under which the operation is declared. To read it builds no schema. */
  readonly name: string
  /** The declaration as data. Its success is the stream of events. */
  readonly endpoint: Endpoint<Input, Events<Event>, Failure>
}

interface AnyOperation {
  (input: never): Effect.Effect<unknown, unknown, IdentityClient> | Stream.Stream<unknown, unknown, IdentityClient>
  readonly endpoint: Any
}

/** Input: `Operation.Input<typeof deleteEventStream>` is `{ readonly id: string }`. @since 0.1.0 @category models */
export type Input<Op extends AnyOperation> = Parameters<Op>[0]

/**
 * The success: `Operation.Success<typeof createUsersExport>` is `UsersExportJob`. With server-sent events, one of them.
 * @since 0.1.0 @category models
 */
export type Success<Op extends AnyOperation> = Result<ReturnType<Op>>["success"]

/** Every failure of an operation: those that it declares, and `Errors.ClientError`. @since 0.1.0 @category models */
export type Failure<Op extends AnyOperation> = Result<ReturnType<Op>>["failure"]

type Result<Call> = Call extends
  | Effect.Effect<infer Success, infer Failure, infer _>
  | Stream.Stream<infer Success, infer Failure, infer _> ? { readonly success: Success; readonly failure: Failure }
  : never

/**
 * The declaration of an operation: its endpoint without `name` and `input`. Field names are those of the service.
 * @since 0.1.0 @category models
 */
export interface Declaration extends Omit<Any, "name" | "input"> {}

/** The names of the `:placeholders` in a path. */
type Placeholder<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | Placeholder<`/${Rest}`>
  : Path extends `${string}/:${infer Name}` ? Name
  : never

/** The fields of one part of the request. */
type Part<D, Name extends "params" | "query" | "headers" | "payload" | "multipart"> = D extends
  { readonly [_ in Name]: infer Found extends Fields } ? Found : {}

type ParamsOf<D> = Schema.Struct.Type<Part<D, "params">>

/** All fields of the request. */
type AllFields<D> =
  & Part<D, "params">
  & Part<D, "query">
  & Part<D, "headers">
  & Part<D, "payload">
  & Part<D, "multipart">

/** The type of a whole body; `never` if none is declared. */
type Body<D> = D extends { readonly body: infer S extends Schema.Schema.AnyNoContext } ? Schema.Schema.Type<S> : never

/** The caller's input: the fields of all parts in one object, and `body`. */
type InputOf<D> = Types.Simplify<
  & Schema.Struct.Type<Part<D, "params">>
  & Schema.Struct.Type<Part<D, "query">>
  & Schema.Struct.Type<Part<D, "headers">>
  & Schema.Struct.Type<Part<D, "payload">>
  & Schema.Struct.Type<Part<D, "multipart">>
  & (D extends { readonly body: Schema.Schema.AnyNoContext }
    ? undefined extends Body<D> ? { readonly body?: Body<D> } : { readonly body: Body<D> }
    : {})
>

type SuccessOf<D> = D extends { readonly success: infer S extends Schema.Schema.AnyNoContext } ? Schema.Schema.Type<S>
  : void

type FailureOf<D extends Declaration> = InstanceType<D["error"][number]>

/** The name of the field that holds the items of a page. */
type ItemsOf<D> = D extends { readonly items: infer Name extends string } ? Name : never

/** The lists of a success, which may have several forms; anything else if a form has none. */
type Lists<Success, Name> = Success extends ReadonlyArray<unknown> | undefined ? Success
  : [Name] extends [never] ? "no list"
  : Name extends keyof Success ? Success[Name]
  : "no list"

/** The names that two parts of the request share. */
type SharedNames<D> =
  | (keyof Part<D, "params"> & (keyof Part<D, "query"> | keyof Part<D, "headers"> | BodyName<D>))
  | (keyof Part<D, "query"> & (keyof Part<D, "headers"> | BodyName<D>))
  | (keyof Part<D, "headers"> & BodyName<D>)

type BodyName<D> =
  | keyof Part<D, "payload">
  | keyof Part<D, "multipart">
  | (D extends { readonly body: Schema.Schema.AnyNoContext } ? "body" : never)

/** The kinds of bodies that are declared. */
type BodyKind<D> = keyof D & ("payload" | "body" | "multipart")

type IsUnion<A, Each = A> = A extends unknown ? [Each] extends [A] ? false : true : never

type Invalid<Message extends string> = { readonly [Name in Message]: never }

type Check<IsValid extends boolean, Message extends string> = IsValid extends true ? unknown : Invalid<Message>

type Extends<A, B> = [A] extends [B] ? true : false

/** `unknown` for a valid declaration, else a field that no declaration has. Its name is the message in the editor. */
type Validated<D extends Declaration> =
  & ([Placeholder<D["path"]>] extends [keyof Part<D, "params">] ? unknown
    : { readonly params: { readonly [Name in Placeholder<D["path"]>]: Schema.Schema<string> } })
  & Check<
    Extends<keyof Part<D, "params">, Placeholder<D["path"]>>,
    "a field of `params` has no placeholder in `path`"
  >
  & Check<
    Extends<ParamsOf<D>[keyof ParamsOf<D>], string>,
    "fields of `params` must be strings"
  >
  & Check<Extends<SharedNames<D>, never>, "two parts of the input must not share a name">
  & Check<
    Extends<Schema.Struct.Encoded<AllFields<D>>, Schema.Struct.Type<AllFields<D>>>,
    "schemas of the request must not transform"
  >
  & Check<Extends<keyof D, keyof Declaration>, "a field of the declaration is unknown">
  & Check<typeof RateLimited extends D["error"][number] ? true : false, "`error` must include RateLimited">
  & ValidatedCheck<D>
  & ValidatedHeaders<D>
  & ValidatedBody<D>
  & ValidatedSuccess<D>

type ValidatedCheck<D> = D extends { readonly check: (input: infer Input) => unknown } ?
  Check<Extends<InputOf<D>, Input>, "`check` must accept the input">
  : unknown

type ValidatedHeaders<D> = D extends { readonly headers: Fields } ?
    & Check<
      Extends<keyof Part<D, "headers">, Lowercase<keyof Part<D, "headers"> & string>>,
      "names of `headers` must be in lower case"
    >
    & Check<
      Extends<Schema.Struct.Type<Part<D, "headers">>, { readonly [_ in string]?: string | undefined }>,
      "fields of `headers` must be strings"
    >
  : unknown

type ValidatedBody<D> =
  & Check<Extends<IsUnion<BodyKind<D>>, false>, "`payload`, `body` and `multipart` exclude each other">
  & (D extends { readonly body: infer S extends Schema.Schema.AnyNoContext }
    ? Check<Extends<Schema.Schema.Encoded<S>, Schema.Schema.Type<S>>, "the schema of `body` must not transform">
    : unknown)
  & (D extends { readonly multipart: Fields } ? Check<
      Extends<
        Schema.Struct.Type<Part<D, "multipart">>,
        { readonly [_ in string]?: string | number | boolean | File | undefined }
      >,
      "fields of `multipart` must be strings, numbers, booleans or files"
    >
    : unknown)

type ValidatedSuccess<D> =
  & Check<Extends<IsUnion<keyof D & ("success" | "events")>, false>, "`success` and `events` exclude each other">
  & (D extends { readonly events: infer S extends Schema.Schema.AnyNoContext }
    ? Check<Extends<Schema.Schema.Encoded<S>, Schema.Schema.Type<S>>, "the schema of `events` must not transform">
    : unknown)
  & (D extends { readonly success: infer S extends Schema.Schema.AnyNoContext }
    ? Check<Extends<Schema.Schema.Encoded<S>, Schema.Schema.Type<S>>, "the schema of `success` must not transform">
    : unknown)
  & (IsPaged<D> extends true ?
      & Check<
        Extends<Lists<SuccessOf<D>, ItemsOf<D>>, ReadonlyArray<unknown> | undefined>,
        "`items` must name a list in each success that is none"
      >
      & (D extends { readonly paging: "checkpoint" | "both" | "newer" }
        ? Check<Extends<"from" | "take", keyof Part<D, "query">>, "checkpoints need `from` and `take` in `query`">
        : unknown)
      & (D extends { readonly paging: "checkpoint" } ? unknown
        : Check<Extends<"page", keyof InputOf<D>>, "pages with numbers need `page` in the input">)
    : unknown)

type IsPaged<D> = D extends { readonly items: string } | { readonly paging: PagingKind } ? true : false

/** The type of a declared operation: paged if `items` or `paging` is declared, a stream if `events` is. */
type Declared<D extends Declaration> = D extends { readonly events: infer S extends Schema.Schema.AnyNoContext }
  ? Subscription<InputOf<D>, Schema.Schema.Type<S>, FailureOf<D>>
  : IsPaged<D> extends true ? Paged<InputOf<D>, SuccessOf<D>, FailureOf<D>, ItemsOf<D>>
  : Operation<InputOf<D>, SuccessOf<D>, FailureOf<D>>

/** A struct without fields would allow any field. */
const inputSchema = (fields: Fields): Schema.Schema.AnyNoContext =>
  Object.keys(fields).length === 0
    ? Schema.Record({ key: Schema.String, value: Schema.Never })
    : Schema.make(Schema.Struct(fields).ast)

const accepts = (schema: Schema.Schema.AnyNoContext, value: unknown): boolean => Schema.is(schema)(value)

const endpointOf = (name: string, declaration: Declaration): Any => {
  const { body, headers, items, multipart, params, payload, query } = declaration
  const whole = body && { body: accepts(body, undefined) ? Schema.optional(body) : body }
  return {
    ...declaration,
    ...(items !== undefined && { paging: declaration.paging ?? "number" }),
    name,
    input: inputSchema({ ...params, ...query, ...headers, ...payload, ...multipart, ...whole })
  }
}

/**
 * Declares an operation.
 *
 * The caller's input has the fields of `params`, `query`, `headers`, `payload` and `multipart` in one object, and the whole
 * `body` in the field of that name; no name may occur in two of them. Their schemas validate and never transform: the value is
 * sent as the caller gives it. What JSON or a form would change, such as a `Set`, a function or a `Redacted`, is `InvalidInput`. Fields
 * that are `undefined` are not sent; `null` is.
 *
 * The declaration runs once, when the operation is first called or its `endpoint` is first read. So an index of hundreds of operations
 * loads fast. If it throws, each call is that defect, and reading `endpoint` throws.
 *
 * The operation fails with instances of exactly the classes in `error`, and with `Errors.ClientError`. Responses with other
 * statuses of failure are `UnexpectedResponse`.
 * @since 0.1.0 @category constructors
 * @example `Operation.make("getUser", () => ({ method: "GET", path: "/users/:id", params, success, scope, idempotent: true, error }))`
 */
export const make = <const D extends Declaration>(
  name: string,
  declaration: () => D & Validated<D>
): Declared<D> => {
  type Declaring = Endpoint<InputOf<D>, SuccessOf<D>, FailureOf<D>>
  let declared: Declaration | undefined
  let built: Declaring | undefined
  const declare = () => declared ??= declaration()
  // Sound: `InputOf` and `SuccessOf` are the types of these schemas, and `FailureOf` is the instance type of these classes.
  const build = () => endpointOf(name, declare()) as Declaring
  const endpoint = () => built ??= build()
  const call = (input: InputOf<D>) => Effect.flatMap(IdentityClient, (client) => client.execute(endpoint(), input))
  // Sound: the success of an operation with events is the stream of them.
  const subscribe = (input: InputOf<D>) =>
    Stream.unwrap(call(input) as Effect.Effect<unknown> as Effect.Effect<Events<unknown>>)
  // What a declaration throws is a defect of the call, not of the code that builds the effect.
  const execute = (input: InputOf<D>) =>
    Either.match(Either.try(declare), {
      onLeft: Effect.die,
      onRight: ({ events }) => events === undefined ? call(input) : subscribe(input)
    })
  Object.defineProperties(execute, { name: { value: name }, endpoint: { get: endpoint, enumerable: true } })
  return execute as unknown as Declared<D> // sound: it has the properties that were just defined
}

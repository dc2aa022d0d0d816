/** Turns one declaration into the function that users call, with the declaration attached as data. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type { Any, Endpoint, Fields } from "./Endpoint.js"
import type { ClientError, ErrorClass, RateLimited } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"

/** A call of the interface: a function from input to Effect, with its description. @since 0.1.0 @category models */
export interface Operation<Input, Success, Failure> {
  (input: Input): Effect.Effect<Success, Failure | ClientError, IdentityClient>
  /** The declaration as data: method, path, schemas, scope, errors. */
  readonly endpoint: Endpoint<Input, Success, Failure>
}

/**
 * An operation that returns one page of a list. The field `Items` of its success holds the items of the page.
 * @since 0.1.0 @category models
 */
export interface Paged<Input, Success, Failure, Items extends string> extends Operation<Input, Success, Failure> {
  readonly endpoint: Endpoint<Input, Success, Failure> & { readonly items: Items }
}

interface AnyOperation {
  (input: never): Effect.Effect<unknown, unknown, IdentityClient>
  readonly endpoint: Any
}

/** Input: `Operation.Input<typeof deleteEventStream>` is `{ readonly id: string }`. @since 0.1.0 @category models */
export type Input<Op extends AnyOperation> = Parameters<Op>[0]

/** The success: `Operation.Success<typeof createUsersExport>` is `UsersExportJob`. @since 0.1.0 @category models */
export type Success<Op extends AnyOperation> = Effect.Effect.Success<ReturnType<Op>>

/** Every failure of an operation: those that it declares, and `Errors.ClientError`. @since 0.1.0 @category models */
export type Failure<Op extends AnyOperation> = Effect.Effect.Error<ReturnType<Op>>

/** The names of the `:placeholders` in a path. */
type Placeholder<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | Placeholder<`/${Rest}`>
  : Path extends `${string}/:${infer Name}` ? Name
  : never

/** `unknown` for a valid declaration, else a field that no declaration has. Its name is the message in the editor. */
type Validated<Path extends string, Params, Query extends Fields, Payload extends Fields, Errors, List> =
  & ([Placeholder<Path>] extends [keyof Params] ? unknown
    : { readonly params: { readonly [Name in Placeholder<Path>]: Schema.Schema<string> } })
  & ([keyof Params] extends [Placeholder<Path>] ? unknown : Invalid<"a field of `params` has no placeholder in `path`">)
  & (Params[keyof Params] extends Schema.Schema<string> ? unknown : Invalid<"fields of `params` must be strings">)
  & ([(keyof Params & keyof (Query & Payload)) | (keyof Query & keyof Payload)] extends [never] ? unknown
    : Invalid<"`params`, `query` and `payload` must not share a name">)
  & (Schema.Struct.Encoded<Query> extends Schema.Struct.Type<Query> ? unknown
    : Invalid<"schemas of `query` must not transform">)
  & (Schema.Struct.Encoded<Payload> extends Schema.Struct.Type<Payload> ? unknown
    : Invalid<"schemas of `payload` must not transform">)
  & ([List] extends [ReadonlyArray<unknown> | undefined] ? unknown : Invalid<"`items` must name a list">)
  & (typeof RateLimited extends Errors ? unknown : Invalid<"`error` must include RateLimited">)

type Invalid<Message extends string> = { readonly [Name in Message]: never }

/** The caller's input: the fields of all parts in one object. */
type MergedInput<Params extends Fields, Query extends Fields, Payload extends Fields> = Types.Simplify<
  Schema.Struct.Type<Params> & Schema.Struct.Type<Query> & Schema.Struct.Type<Payload>
>

type Instance<Errors extends ReadonlyArray<ErrorClass>> = InstanceType<Errors[number]>

/** The type of the field `Items`; `never` if no field is declared. */
type ListOf<Success, Items> = Items extends keyof Success ? Success[Items] : never

/** The type of a declared operation: paged if `Items` is declared. */
type Declared<Input, Success, Failure, Items extends string> = [Items] extends [never]
  ? Operation<Input, Success, Failure>
  : Paged<Input, Success, Failure, Items>

/** The declaration of an operation. Field names are those of the service. @since 0.1.0 @category models */
export interface Declaration<Path, Params, Query, Payload, Success, Items, Errors>
  extends Pick<Any, "method" | "minProperties" | "idempotent">
{
  /** The path relative to the base URL; `:name` is the placeholder of a field of `params`. */
  readonly path: Path
  /** The fields that fill the placeholders of the path, exactly those, each a string. */
  readonly params?: Params
  /** The fields of the query string. */
  readonly query?: Query
  /** The fields of the body, sent as JSON or, with `IdentityClient.withFormBody`, as a form. */
  readonly payload?: Payload
  /** The schema of the response's body. Without it the body is not decoded and the operation returns `void`. */
  readonly success?: Schema.Schema<Success>
  /** The field of the success that holds the items of a page; `Pagination` streams the operation then. */
  readonly items?: Items
  /** The scope that the token needs, for example `read:users`. */
  readonly scope: `${"create" | "read" | "update" | "delete"}:${string}`
  /** The classes of the failures that the service documents; `RateLimited` must be among them. */
  readonly error: Errors
}

/** A struct without fields would allow any field. */
const inputSchema = (fields: Fields) =>
  Object.keys(fields).length === 0
    ? Schema.Record({ key: Schema.String, value: Schema.Never })
    : Schema.typeSchema(Schema.Struct(fields))

/**
 * Declares an operation.
 *
 * The caller's input has the fields of `params`, `query` and `payload` in one object; no name may occur in two of them. Their
 * schemas validate and never transform: the value is sent as the caller gives it. Fields that are `undefined` are not sent.
 *
 * The operation fails with instances of exactly the classes in `error`, and with `Errors.ClientError`. Responses with other
 * statuses of failure are `UnexpectedResponse`.
 * @since 0.1.0 @category constructors
 * @example `Operation.make("getUser", { method: "GET", path: "/users/:id", params, success, scope, idempotent: true, error })`
 */
export const make = <
  const Path extends `/${string}`,
  const Errors extends ReadonlyArray<ErrorClass>,
  Params extends Fields = {},
  Query extends Fields = {},
  Payload extends Fields = {},
  Success = void,
  const Items extends keyof Success & string = never
>(
  name: string,
  declaration:
    & Declaration<Path, Params, Query, Payload, Success, Items, Errors>
    & Validated<Path, Params, Query, Payload, Errors[number], ListOf<Success, Items>>
): Declared<MergedInput<Params, Query, Payload>, Success, Instance<Errors>, Items> => {
  // Sound: `Input` and `Success` are the types of these schemas, and `Failure` is the instance type of these classes.
  const endpoint = {
    ...declaration,
    name,
    input: inputSchema({ ...declaration.params, ...declaration.query, ...declaration.payload })
  } as unknown as Endpoint<MergedInput<Params, Query, Payload>, Success, Instance<Errors>>
  const execute = (input: MergedInput<Params, Query, Payload>) =>
    Effect.flatMap(IdentityClient, (client) => client.execute(endpoint, input))
  // Sound: the endpoint has `items` if the declaration has.
  return Object.assign(execute, { endpoint }) as Declared<typeof endpoint.input.Type, Success, Instance<Errors>, Items>
}

/** Turns one declaration into the function that users call, with the declaration attached as data. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type { Endpoint, Fields } from "./Endpoint.js"
import type { ClientError, ErrorClass, RateLimited } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"

/** A call of the management interface: a function from input to Effect that also is its own description. */
export interface Operation<Input, Success, Failure> {
  (input: Input): Effect.Effect<Success, Failure | ClientError, IdentityClient>
  /** What it was declared as. */
  readonly endpoint: Endpoint<Input, Success, Failure>
}

/** An operation that gives a page of a list; the member `Items` of its success holds what is on it. */
export interface Paged<Input, Success, Failure, Items extends string> extends Operation<Input, Success, Failure> {
  readonly endpoint: Endpoint<Input, Success, Failure> & { readonly items: Items }
}

/** An operation of any input, success and failure. */
type AnyOperation = Operation<never, unknown, unknown>

/** The input of an operation: `Operation.Input<typeof deleteEventStream>`. */
export type Input<Op extends AnyOperation> = Parameters<Op>[0]

/** The value that an operation succeeds with. */
export type Success<Op extends AnyOperation> = Effect.Effect.Success<ReturnType<Op>>

/** Everything an operation can fail with: the failures it declares and `ClientError`. */
export type Failure<Op extends AnyOperation> = Effect.Effect.Error<ReturnType<Op>>

/** The names of the `:placeholders` of a path. */
type Placeholder<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | Placeholder<`/${Rest}`>
  : Path extends `${string}/:${infer Name}` ? Name
  : never

/** `unknown` for a sound declaration, else a member that it lacks: the member's name is what the editor shows. */
type Sound<Path extends string, Params, Query extends Fields, Payload extends Fields, Errors, List> =
  & ([Placeholder<Path>] extends [keyof Params] ? unknown
    : { readonly params: { readonly [Name in Placeholder<Path>]: Schema.Schema<string> } })
  & ([keyof Params] extends [Placeholder<Path>] ? unknown : Refused<"a member of `params` is not in `path`">)
  & (Params[keyof Params] extends Schema.Schema<string> ? unknown : Refused<"members of `params` are strings">)
  & ([(keyof Params & keyof (Query & Payload)) | (keyof Query & keyof Payload)] extends [never] ? unknown
    : Refused<"two parts share a name">)
  & (Schema.Struct.Encoded<Query> extends Schema.Struct.Type<Query> ? unknown : Refused<"a schema changes its value">)
  & (Schema.Struct.Encoded<Payload> extends Schema.Struct.Type<Payload> ? unknown
    : Refused<"a schema changes its value">)
  & ([List] extends [ReadonlyArray<unknown> | undefined] ? unknown : Refused<"`items` names no list">)
  & (typeof RateLimited extends Errors ? unknown : Refused<"`error` holds no RateLimited">)

type Refused<Why extends string> = { readonly [Name in Why]: never }

/** The input a caller gives: the members of all parts, flat. */
type FlatInput<Params extends Fields, Query extends Fields, Payload extends Fields> = Types.Simplify<
  Schema.Struct.Type<Params> & Schema.Struct.Type<Query> & Schema.Struct.Type<Payload>
>

type Instance<Errors extends ReadonlyArray<ErrorClass>> = InstanceType<Errors[number]>

/** What lies in the member `Items`; nothing if none is declared. */
type Listed<Success, Items> = Items extends keyof Success ? Success[Items] : never

type Made<Input, Success, Failure, Items extends string> = [Items] extends [never] ? Operation<Input, Success, Failure>
  : Paged<Input, Success, Failure, Items>

/** What an operation is declared as. */
export interface Declaration<Path, Params, Query, Payload, Success, Items, Errors> {
  readonly method: Endpoint<never, never, never>["method"]
  /** Relative to the base URL; `:name` stands for a member of `params`. */
  readonly path: Path
  /** What fills the placeholders of the path, each a string. */
  readonly params?: Params
  /** What travels behind the path. */
  readonly query?: Query
  /** What travels in the body. */
  readonly payload?: Payload
  /** How many members of the payload are set at the least (default 0). */
  readonly minProperties?: number
  /** What is decoded from the body. Without it the body is not decoded. */
  readonly success?: Schema.Schema<Success>
  /** The member of the success that holds the items of a page. */
  readonly items?: Items
  /** The scope that a token needs. */
  readonly scope: `${"create" | "read" | "update" | "delete"}:${string}`
  /** Carrying the call out twice is harmless: `true` for reads, PATCH and DELETE here, `false` for what starts something anew. */
  readonly idempotent: boolean
  /** The failures that the service documents; `RateLimited` is always among them. */
  readonly error: Errors
}

/** A struct without fields would let every member through. */
const flat = (fields: Fields) =>
  Object.keys(fields).length === 0
    ? Schema.Record({ key: Schema.String, value: Schema.Never })
    : Schema.typeSchema(Schema.Struct(fields))

/**
 * Declares an operation.
 *
 * `params`, `query` and `payload` say where each member of the flat input travels: `params` fill the `:placeholders` of
 * the path and name exactly those; no name stands in two parts. Names are the wire's own. The schemas are filters: they
 * check a value and never change it. Without `success` the body is not decoded and the operation gives `void`. The
 * failures of the operation are exactly the instances of the classes in `error`; `RateLimited` is always among them.
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
    & Sound<Path, Params, Query, Payload, Errors[number], Listed<Success, Items>>
): Made<FlatInput<Params, Query, Payload>, Success, Instance<Errors>, Items> => {
  // Sound: `Input` and `Success` are what these very schemas accept, `Failure` is what these very classes build, and
  // `items` is there if it is declared.
  const endpoint = {
    ...declaration,
    name,
    input: flat({ ...declaration.params, ...declaration.query, ...declaration.payload })
  } as unknown as Endpoint<FlatInput<Params, Query, Payload>, Success, Instance<Errors>>
  const operation: Operation<FlatInput<Params, Query, Payload>, Success, Instance<Errors>> = Object.assign(
    (input: FlatInput<Params, Query, Payload>) =>
      Effect.flatMap(IdentityClient, (client) => client.execute(endpoint, input)),
    { endpoint }
  )
  return operation as Made<FlatInput<Params, Query, Payload>, Success, Instance<Errors>, Items>
}

/** Describes an operation as data, which the client, the embedded tenant, tests and documentation read. */
import type * as Schema from "effect/Schema"
import type { ErrorClass, Issue } from "./Errors.js"

/** The fields of one part of the request, such as path, query or payload. @since 0.1.0 @category models */
export type Fields = Schema.Struct.Fields

/** The encodings of a payload (contract: Endpoints 1 and 2). @since 0.1.0 @category models */
export type ContentType = "application/json" | "application/x-www-form-urlencoded"

/**
 * The way in which a list goes on. `number`: the query has `page`, counted from 0, and mostly `per_page`. `checkpoint`: the query has
 * `from` and `take`; the field `next` of a page is the next call's `from`. `both`: the service offers either.
 * `newer`: pages have numbers, the newest items first, and `from` is the id of an item: with it the service returns what is newer, the
 * oldest first, and ignores all other fields but `take`, as for logs.
 * @since 0.1.0 @category models
 */
export type PagingKind = "number" | "checkpoint" | "both" | "newer"

/** The description of any operation, without types for its input and results. @since 0.1.0 @category models */
export interface Any {
  /** The name under which the operation is exported, for example `deleteEventStream`. Errors, spans and metrics carry it. */
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** The path relative to the base URL; `:name` is the placeholder of a field of `params`. */
  readonly path: `/${string}`
  /** The fields that fill the placeholders of the path. They are strings and are sent percent-encoded. */
  readonly params?: Fields
  /** The fields of the query string. */
  readonly query?: Fields
  /** The header parameters, by their names in lower case. Their values are strings. */
  readonly headers?: Fields
  /** The fields of the body, sent as JSON or as a form. Excludes `body` and `multipart`. */
  readonly payload?: Fields
  /**
   * The whole body, where it is more than an object of known fields: the value of the input's field `body`. If the schema
   * accepts `undefined`, the field is optional, and without it no body is sent. Excludes `payload` and `multipart`.
   */
  readonly body?: Schema.Schema.AnyNoContext
  /** The fields of a body that is sent as `multipart/form-data`: strings, numbers, booleans and `Schemas.File`. */
  readonly multipart?: Fields
  /** The least number of payload fields that a caller must set (default 0). */
  readonly minProperties?: number
  /**
   * Lists what is wrong with an input whose fields are each valid: it is `InvalidInput`, and nothing is sent. Messages do not contain values,
   * which may be secret.
   */
  readonly check?: (input: never) => ReadonlyArray<Issue>
  /** The schema of the caller's input: the fields of all parts together, and `body`. */
  readonly input: Schema.Schema.AnyNoContext
  /**
   * The schema of the response's body. Absent: the body is not decoded. It accepts `undefined` if the body may be empty. `Schema.Unknown`: the
   * body is not described; the success is its JSON, or `undefined` if it is not JSON.
   */
  readonly success?: Schema.Schema.AnyNoContext
  /**
   * `lenient`: fields of a success that have another type than the schema says, or are missing, do not fail the call. They stay as they are,
   * contrary to their types, and the drift metric counts them. Default: such a response is an `UnexpectedResponse`.
   */
  readonly responses?: "lenient"
  /** The schema of the data of each server-sent event. Present: the response is a stream of them, and `success` is absent. */
  readonly events?: Schema.Schema.AnyNoContext
  /** The field of the success that holds the items of a page. Absent if each success is a bare list. */
  readonly items?: string
  /** The way in which the list goes on. Present if the operation returns the pages of a list. */
  readonly paging?: PagingKind
  /** The scope that the token needs, for example `read:users`, or a list: any of them is enough, and an empty one needs none. */
  readonly scope: string | ReadonlyArray<string>
  /** `true` if sending the request twice is harmless. If `false`, it is retried only after a 429 or if it was certainly not sent. */
  readonly idempotent: boolean
  /** The classes of the failures that the operation declares. Every other status is `UnexpectedResponse`. */
  readonly error: ReadonlyArray<ErrorClass>
}

/** The description of an operation with the types of its input, success and failures. @since 0.1.0 @category models */
export interface Endpoint<Input, Success, Failure> extends Any {
  readonly input: Schema.Schema<Input>
  readonly success?: Schema.Schema<Success>
  readonly error: ReadonlyArray<ErrorClass<Failure>>
}

/** The scopes that are each enough. Empty: the token needs none. @since 0.1.0 @category accessors */
export const scopesOf = ({ scope }: Pick<Any, "scope">): ReadonlyArray<string> =>
  typeof scope === "string" ? [scope] : scope

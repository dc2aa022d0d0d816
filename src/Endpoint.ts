/** Describes an operation as data, which the client, the embedded tenant, tests and documentation read. */
import type * as Schema from "effect/Schema"
import type { ErrorClass } from "./Errors.js"

/** The fields of one part of the request: path, query or payload. @since 0.1.0 @category models */
export type Fields = Schema.Struct.Fields

/** The encodings of a payload (contract: Endpoints 1 and 2). @since 0.1.0 @category models */
export type ContentType = "application/json" | "application/x-www-form-urlencoded"

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
  /** The fields of the body, sent as JSON or as a form. */
  readonly payload?: Fields
  /** The least number of payload fields that a caller must set (default 0). */
  readonly minProperties?: number
  /** The schema of the caller's input: the fields of `params`, `query` and `payload` together. */
  readonly input: Schema.Schema.AnyNoContext
  /** The schema of the response's body. Absent: the body is not decoded. It accepts `undefined` if the body may be empty. */
  readonly success?: Schema.Schema.AnyNoContext
  /** The field of the success that holds the items of a page. */
  readonly items?: string
  /** The scope that the token needs, for example `read:users`. */
  readonly scope: string
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

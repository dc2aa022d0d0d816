/** The description of one operation, as data: what the client, the embedded tenant, tests and documents walk. */
import type * as Schema from "effect/Schema"
import type { ErrorClass } from "./Errors.js"

/** The members that travel in one part of the request. */
export type Fields = Schema.Struct.Fields

/** How a payload may travel. */
export type ContentType = "application/json" | "application/x-www-form-urlencoded"

/** Any operation: where each member of its input travels and what can come back. */
export interface Any {
  /** As it is exported, for example `deleteEventStream`; errors, spans and limits know it by that. */
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Relative to the base URL; `:name` stands for a member of `params`. */
  readonly path: `/${string}`
  /** What fills the placeholders of the path; strings, percent-encoded when they are sent. */
  readonly params?: Fields
  /** What travels behind the path, if it is set. */
  readonly query?: Fields
  /** What travels in the body, as JSON or a form. */
  readonly payload?: Fields
  /** How many members of the payload are set at the least (default 0). */
  readonly minProperties?: number
  /** All members of `params`, `query` and `payload` in one: the caller's input. */
  readonly input: Schema.Schema.AnyNoContext
  /** What is decoded from the body; absent: the body is not decoded. It accepts `undefined` if the body may be empty. */
  readonly success?: Schema.Schema.AnyNoContext
  /** The member of the success that holds the items of a page. */
  readonly items?: string
  /** The scope that a token needs. */
  readonly scope: string
  /** Carrying the call out twice is harmless. A call that is not idempotent is never retried once it may have been carried out. */
  readonly idempotent: boolean
  /** The failures that the operation declares. Every other status is `UnexpectedResponse`. */
  readonly error: ReadonlyArray<ErrorClass>
}

/** An operation of the management interface with its types. */
export interface Endpoint<Input, Success, Failure> extends Any {
  readonly input: Schema.Schema<Input>
  readonly success?: Schema.Schema<Success>
  readonly error: ReadonlyArray<ErrorClass<Failure>>
}

/** The operations of a document as plain data between reading and printing. */
import type { ObjectShape, Shape } from "./shape.js"

/** A field of the path, the query or the header. */
export interface Parameter {
  readonly name: string
  readonly shape: Shape
  readonly required: boolean
  readonly deprecated: boolean
  readonly description: string | undefined
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** The body of a request. */
export type Body =
  /** An object whose fields the caller gives in the input. */
  | { readonly _tag: "Payload" | "Multipart"; readonly shape: ObjectShape }
  /** Anything else, which the caller gives in the field `body`. */
  | { readonly _tag: "Whole"; readonly shape: Shape; readonly isOptional: boolean }

/** The body of a success. */
export interface Success {
  readonly shape: Shape
  /** There may be no body. */
  readonly isOptional: boolean
  /** A stream of server-sent events of this shape. */
  readonly isStream: boolean
}

/** The way in which a list comes in pages. */
export interface Paging {
  readonly kind: "number" | "checkpoint" | "both" | "newer"
  /** The field that holds the items of a page; absent if every success is a bare list. */
  readonly items: string | undefined
}

export interface Operation {
  readonly name: string
  readonly pointer: string
  readonly method: Method
  /** The path as in the document, with parameters in braces. */
  readonly path: string
  readonly group: ReadonlyArray<string>
  /** The SDK's method, for example `users.get`. */
  readonly sdkName: string | undefined
  readonly stage: Stage
  readonly summary: string | undefined
  readonly description: string | undefined
  readonly deprecated: boolean
  readonly params: ReadonlyArray<Parameter>
  readonly query: ReadonlyArray<Parameter>
  readonly headers: ReadonlyArray<Parameter>
  readonly body: Body | undefined
  readonly success: Success | undefined
  readonly paging: Paging | undefined
  readonly scopes: ReadonlyArray<string>
  /** The statuses of failures that the document names and `Errors` has classes for. */
  readonly statuses: ReadonlyArray<number>
  readonly idempotent: boolean
}

/** The stages of an operation's life, from the most stable on. */
export const stages = ["ga", "ea", "beta"] as const

export type Stage = typeof stages[number]

/** Whether fields of a response that have another type, or are missing, fail a call. */
export const responses = ["strict", "lenient"] as const

/** The side that a schema is for. */
export type Direction = "request" | "response"

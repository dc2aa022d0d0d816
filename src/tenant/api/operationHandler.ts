/** The behaviour of an operation: a pure function from input and state to response and new state. */
import type * as operations from "../../operations/index.js"
import { invalidField } from "../server/requestInput.js"
import { failure, type PlainResponse } from "../server/response.js"
import type { State } from "./state.js"

/** A call whose token is verified and whose input is valid. */
interface HandlerContext<Input> {
  readonly input: Input
  /** Milliseconds since 1970. */
  readonly now: number
  /** Sixteen random letters and digits, for an item that the call creates. */
  readonly randomId: string
  /** The origin of the links to files. */
  readonly fileOrigin: string
  /** Why the jobs fail that are created; `undefined` if they do not. */
  readonly exportFailure: string | undefined
  /** Makes the operation's successful response, with this body or none. */
  readonly success: (body?: unknown) => PlainResponse
}

export interface OperationHandler<Input> {
  /** The status of a success. */
  readonly status: 200 | 202 | 204
  /** The bucket of its own that limits its calls. Default: the tenant's. */
  readonly bucket?: "profileUpdates"
  /** Only global clients may call it. */
  readonly global?: boolean
  /** Its pages have numbers, and a limited size. */
  readonly numbered?: boolean
  readonly run: (context: HandlerContext<Input>, state: State) => readonly [response: PlainResponse, state: State]
}

type Operations = typeof operations

export type OperationName = {
  [Name in keyof Operations]: Operations[Name] extends { readonly endpoint: unknown } ? Name : never
}[keyof Operations]

/** The handlers of these operations. */
export type Handlers<Name extends OperationName = OperationName> = {
  readonly [Each in Name]: OperationHandler<Parameters<Operations[Each]>[0]>
}

export const invalidPayload = (path: string, message: string): PlainResponse =>
  invalidField("Payload", { path, message })

export const invalidQuery = (path: string, message: string): PlainResponse => invalidField("Query", { path, message })

export const notFound = (name: string): PlainResponse => failure(404, `The ${name} does not exist.`)

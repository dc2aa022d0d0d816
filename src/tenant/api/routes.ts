/** The routes that the tenant serves: the operations that have a handler, and the token endpoint. */
import * as Record from "effect/Record"
import type * as Endpoint from "../../Endpoint.js"
import * as operations from "../../operations/index.js"
import { handlers, type OperationHandler, type OperationName } from "./handlers.js"

export interface ServedOperation {
  readonly endpoint: Endpoint.Any
  readonly handler: OperationHandler<never>
}

const declared: Pick<typeof operations, OperationName> = operations

/** Every operation that has a handler, in the order of the handlers. */
export const servedOperations: ReadonlyArray<ServedOperation> = Record.toEntries<string, OperationHandler<never>>(
  handlers
).map(([name, handler]) => ({
  endpoint: declared[name as OperationName].endpoint, // sound: the type of `handlers` has no other keys
  handler
}))

/** The path of the management interface on every tenant (contract: Versioning). */
export const prefix = "/api/v2"

/** The token path of the contract, and the one that tenants have in practice. */
export const tokenPaths = ["/oauth/token/", "/oauth/token"] as const

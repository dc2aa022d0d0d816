/** What the tenant serves: the operations that are declared and have a handler, and the paths of all. */
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as Endpoint from "../../Endpoint.js"
import * as operations from "../../operations/index.js"
import type { Handler } from "./handlers.js"
import { handlers } from "./handlers.js"

/** What can be served: a declaration together with what carries it out. */
export interface Served {
  readonly endpoint: Endpoint.Any
  readonly handler: Handler<never>
}

const endpoints = new Map<string, Endpoint.Any>(
  Object.values(operations).flatMap((exported) =>
    "endpoint" in exported ? [[exported.endpoint.name, exported.endpoint] as const] : []
  )
)

/**
 * Every operation that is declared and has a handler, in the order of the handlers: the names of a module come in alphabetical
 * order, or in that of the file, as it was loaded.
 */
export const served: ReadonlyArray<Served> = Record.toEntries<string, Handler<never>>(handlers).flatMap(
  ([name, handler]) =>
    Option.toArray(Option.map(Option.fromNullable(endpoints.get(name)), (endpoint) => ({ endpoint, handler })))
)

/** The path of the management interface on every tenant (contract: Versioning). */
export const prefix = "/api/v2"

/** Both spellings of the token path: the contract's and the one in practice. */
export const tokenPaths = ["/oauth/token/", "/oauth/token"] as const

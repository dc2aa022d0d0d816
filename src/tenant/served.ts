/** What the tenant serves: the operations that are declared and have a handler, and the paths of all. */
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import type * as Endpoint from "../Endpoint.js"
import * as operations from "../operations/index.js"
import type { Handler } from "./handlers.js"
import { handlers } from "./handlers.js"

/** What can be served: a declaration together with what carries it out. */
export interface Served {
  readonly endpoint: Endpoint.Any
  readonly handler: Handler<never>
}

/** Every operation that is declared and has a handler. */
export const served: ReadonlyArray<Served> = Object.values(operations).flatMap((exported) => {
  if (!("endpoint" in exported)) return []
  const { endpoint } = exported
  const handler = Record.get<string, Handler<never>>(handlers, endpoint.name)
  return Option.toArray(Option.map(handler, (handler) => ({ endpoint, handler })))
})

/** The path of the management interface on every tenant (contract: Versioning). */
export const prefix = "/api/v2"

/** Both spellings of the token path: the contract's and the one in practice. */
export const tokenPaths = ["/oauth/token/", "/oauth/token"] as const

/** The routes that the tenant serves: the operations of this package, those that it is given, tokens, and files of exports. */
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Endpoint from "../../Endpoint.js"
import type { Issue } from "../../Errors.js"
import * as operations from "../../operations/index.js"
import { handlers } from "./handlers.js"
import type { OperationHandler, OperationName } from "./operationHandler.js"
import { schemaHandler } from "./schemaHandler.js"

export interface ServedOperation {
  readonly endpoint: Endpoint.Any
  readonly handler: OperationHandler<never>
}

/** An operation, as far as the tenant needs it. */
interface AnyOperation {
  readonly endpoint: Endpoint.Any
}

/**
 * Operations in a list or by name. Values that are no operations, such as the schemas of a module, are ignored.
 * @since 0.1.0 @category models
 */
export type Operations = ReadonlyArray<AnyOperation> | Readonly<Record<string, unknown>>

const declared: Pick<typeof operations, OperationName> = operations

/** The operations of this package, in the order of their handlers. */
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

/** The path of the files of export jobs. */
export const filePath = "/exports/:job/:file"

/** The name of the downloads of files, in faults and in the log of requests. */
export const fileOperation = "exportFile"

/** Identifies a route: the names of its parameters make no difference. */
export const routeKey = ({ method, path }: Pick<Endpoint.Any, "method" | "path">): string =>
  `${method} ${path.replace(/:[^/]+/g, ":")}`

/** Lists every scope once. */
export const allScopes = (served: ReadonlyArray<ServedOperation>): ReadonlyArray<string> => [
  ...new Set(served.flatMap(({ endpoint }) => Endpoint.scopesOf(endpoint)))
]

const isOperation = (value: unknown): value is AnyOperation =>
  Predicate.hasProperty(value, "endpoint") && Predicate.hasProperty(value.endpoint, "path")

const endpointsOf = (given: Operations): ReadonlyArray<Endpoint.Any> => [
  ...new Set(Object.values(given).filter(isOperation).map(({ endpoint }) => endpoint))
]

/**
 * Adds operations to those of this package. One with the route of one of these takes its place, and keeps its
 * behaviour if it has the same parameters; all others respond from their schemas.
 */
export const serve = (given: Operations): ReadonlyArray<ServedOperation> => {
  const served = new Map(servedOperations.map((operation) => [routeKey(operation.endpoint), operation]))
  for (const endpoint of endpointsOf(given)) {
    const before = served.get(routeKey(endpoint))
    const handler = before?.endpoint.path === endpoint.path ? before.handler : schemaHandler(endpoint)
    served.set(routeKey(endpoint), { endpoint, handler })
  }
  return [...served.values()]
}

/** The values that occur again. */
const repeated = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.filter((value, index) => values.indexOf(value) < index)

/** Lists the routes and names that two operations have. */
export const issuesOf = (given: Operations): ReadonlyArray<Issue> => {
  const names = ["token", fileOperation, ...serve(given).map(({ endpoint }) => endpoint.name)]
  return [
    ...repeated(endpointsOf(given).map(routeKey)).map((route) => `two operations have the route ${route}`),
    ...repeated(names).map((name) => `two operations have the name ${name}`)
  ].map((message) => ({ path: "operations", message }))
}

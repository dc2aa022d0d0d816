/** Derives from a paged operation an endpoint that leaves the items unchecked, so that each item can be decoded by itself. */
import * as Schema from "effect/Schema"
import type { Any, Endpoint } from "../../Endpoint.js"
import { memoizeByEndpoint } from "../runtime/memoize.js"
import * as Decode from "../schema/decode.js"
import { fromSchema, isUndefined, type SchemaNode, unwrap } from "../schema/schemaTree.js"

/** The schema of a page whose items may be anything, and the type of its list. */
interface Page {
  readonly schema: Schema.Schema.AnyNoContext
  readonly list: SchemaNode
}

const union = (types: ReadonlyArray<Schema.Schema.AnyNoContext>): Schema.Schema.AnyNoContext => Schema.Union(...types)

/** Finds the struct with the field `items`, and replaces the type of that field by a list of anything. */
const pageOf = (node: SchemaNode, items: string): Page | undefined => {
  const type = unwrap(node)
  if (type._tag === "Union") return type.types.map((one) => pageOf(one, items)).find((page) => page !== undefined)
  if (type._tag !== "Struct") return undefined
  const list = type.fields.find(({ name }) => name === items)?.type
  return list && { list, schema: type.withField(items, Schema.Array(Schema.Unknown)) }
}

/** The type of a list's items. */
const itemOf = (node: SchemaNode): Schema.Schema.AnyNoContext => {
  const type = unwrap(node)
  switch (type._tag) {
    case "Array":
      return union([...new Set([...type.elements, ...type.rest])].map(({ schema }) => schema))
    case "Union":
      return union(type.types.filter((type) => !isUndefined(type)).map(itemOf))
    default:
      return Schema.Unknown
  }
}

/** An endpoint whose success has the items of a page in the field `items`. */
export interface PagedEndpoint {
  readonly items: string
}

/**
 * Derives an endpoint of pages with unchecked items, and the decoder of one item. The name stays the same: rate limits, spans
 * and mocks find the operation by it.
 */
export const withoutItemChecks = memoizeByEndpoint((endpoint: Any & PagedEndpoint) => {
  const { items, name, success } = endpoint
  const page = success && pageOf(fromSchema(success), items)
  if (page === undefined) throw new TypeError(`${name}: the success schema has no list in the field "${items}"`)
  return {
    // Sound: input and failures are the operation's own; the caller restores their types.
    endpoint: { ...endpoint, success: page.schema } as Endpoint<unknown, unknown, unknown> & PagedEndpoint,
    decodeItem: Decode.make(itemOf(page.list))
  }
})

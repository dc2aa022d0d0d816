/** Derives from a paged operation an endpoint that leaves the items unchecked, so that each item can be decoded by itself. */
import * as Schema from "effect/Schema"
import type { Any, Endpoint } from "../../Endpoint.js"
import { memoizeByEndpoint } from "../runtime/memoizeByEndpoint.js"
import * as Decode from "../schema/decode.js"
import { fromSchema, isUndefined, type SchemaNode } from "../schema/schemaTree.js"

/** The schema of a page whose items may be anything, and the type of its list. */
interface Page {
  readonly schema: Schema.Schema.AnyNoContext
  readonly list: SchemaNode
}

const union = (types: ReadonlyArray<Schema.Schema.AnyNoContext>): Schema.Schema.AnyNoContext => Schema.Union(...types)

/** Finds the struct with the field `items`, and replaces the type of that field by a list of anything. */
const pageOf = (node: SchemaNode, items: string): Page | undefined => {
  switch (node._tag) {
    case "Struct": {
      const list = node.fields.find(({ name }) => name === items)?.type
      return list && { list, schema: node.withField(items, Schema.Array(Schema.Unknown)) }
    }
    case "Refinement":
      return pageOf(node.from, items)
    case "Lazy":
      return pageOf(node.get(), items)
    case "Union":
      return node.types.map((type) => pageOf(type, items)).find((found) => found !== undefined)
    default:
      return undefined
  }
}

/** The type of a list's items. */
const itemOf = (node: SchemaNode): Schema.Schema.AnyNoContext => {
  switch (node._tag) {
    case "Array":
      return union([...new Set([...node.elements, ...node.rest])].map(({ schema }) => schema))
    case "Refinement":
      return itemOf(node.from)
    case "Lazy":
      return itemOf(node.get())
    case "Union":
      return union(node.types.filter((type) => !isUndefined(type)).map(itemOf))
    default:
      return Schema.Unknown
  }
}

/** An endpoint whose success has the items of a page in the field `items`. */
export interface PagedEndpoint {
  readonly items: string
}

/** An endpoint of pages with unchecked items, and the decoder of one item. */
export interface UncheckedPages {
  readonly endpoint: Endpoint<unknown, unknown, unknown> & PagedEndpoint
  readonly decodeItem: Decode.Decoder
}

/** Derives once for an endpoint. The name stays the same: rate limits, spans and mocks find the operation by it. */
export const withoutItemChecks = memoizeByEndpoint((endpoint: Any & PagedEndpoint): UncheckedPages => {
  const { items, name, success } = endpoint
  const page = success && pageOf(fromSchema(success), items)
  if (page === undefined) throw new TypeError(`${name}: the success schema has no list in the field "${items}"`)
  return {
    // Sound: input and failures are the operation's own; the caller restores their types.
    endpoint: { ...endpoint, success: page.schema } as UncheckedPages["endpoint"],
    decodeItem: Decode.make(itemOf(page.list))
  }
})

/** Derives from a paged operation an endpoint that leaves the items unchecked, so that each item can be decoded by itself. */
import * as Schema from "effect/Schema"
import type { Any, Endpoint, PagingKind } from "../../Endpoint.js"
import { memoizeByEndpoint } from "../runtime/memoize.js"
import * as Decode from "../schema/decode.js"
import { fromSchema, isUndefined, type SchemaNode, unwrap } from "../schema/schemaTree.js"

type AnySchema = Schema.Schema.AnyNoContext

/** The schema of a page whose items may be anything, and the types of its lists. */
interface Page {
  readonly schema: AnySchema
  readonly lists: ReadonlyArray<SchemaNode>
}

const union = (types: ReadonlyArray<AnySchema>): AnySchema => Schema.Union(...types)

/** Replaces the list of each form of a page, which is the form itself or its field `items`, by a list of anything. */
const pageOf = (node: SchemaNode, items: string | undefined): Page => {
  const type = unwrap(node)
  switch (type._tag) {
    case "Union": {
      const pages = type.types.map((type) => pageOf(type, items))
      return { schema: union(pages.map(({ schema }) => schema)), lists: pages.flatMap(({ lists }) => lists) }
    }
    case "Array":
      return { schema: Schema.Array(Schema.Unknown), lists: [type] }
    case "Struct": {
      const list = type.fields.find(({ name }) => name === items)
      return list === undefined
        ? { schema: node.schema, lists: [] }
        : { schema: type.withField(list.name, Schema.Array(Schema.Unknown)), lists: [list.type] }
    }
    default:
      return { schema: node.schema, lists: [] }
  }
}

/** The types of a list's items. */
const itemsOf = (node: SchemaNode): ReadonlyArray<SchemaNode> => {
  const type = unwrap(node)
  switch (type._tag) {
    case "Array":
      return [...type.elements, ...type.rest]
    case "Union":
      return type.types.filter((type) => !isUndefined(type)).flatMap(itemsOf)
    default:
      return [fromSchema(Schema.Unknown)]
  }
}

/** An endpoint whose success is a page: a bare list, or an object with the list in the field `items`. */
export interface PagedEndpoint {
  readonly items?: string
  readonly paging: PagingKind
}

/**
 * Derives an endpoint of pages with unchecked items, and the decoder of one item. The name stays the same: rate limits, spans
 * and mocks find the operation by it.
 */
export const withoutItemChecks = memoizeByEndpoint((endpoint: Any & PagedEndpoint) => {
  const { items, name, success } = endpoint
  const page = success && pageOf(fromSchema(success), items)
  if (page === undefined || page.lists.length === 0) {
    throw new TypeError(
      `${name}: the success schema has no list${items === undefined ? "" : ` in the field "${items}"`}`
    )
  }
  return {
    // Sound: input and failures are the operation's own; the caller restores their types.
    endpoint: { ...endpoint, success: page.schema } as Endpoint<unknown, unknown, unknown> & PagedEndpoint,
    decodeItem: Decode.make(union([...new Set(page.lists.flatMap(itemsOf))].map(({ schema }) => schema)))
  }
})

/** Makes a value that fits a schema, to begin with where the document has no example. */
import type { Json } from "../ui/json.js"
import { type Document, follow, type Schema } from "./document.js"

export const sample = (document: Document, given: Schema, depth = 0): Json => {
  const schema = follow(document, given)
  const known = schema.example ?? schema.examples?.[0] ?? schema.default ?? schema.const ?? schema.enum?.[0]
  if (known !== undefined) return known
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
  if (first !== undefined) return sample(document, first, depth + 1)
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0]
  switch (type ?? (schema.properties === undefined ? "string" : "object")) {
    case "object": {
      const { properties = {}, required = [] } = schema
      if (depth > 8) return {}
      return Object.fromEntries(
        Object.entries(properties).filter(([name]) => required.includes(name)).map(([name, property]) => [
          name,
          sample(document, property, depth + 1)
        ])
      )
    }
    case "array":
      return schema.items === undefined || (schema.minItems ?? 0) === 0
        ? []
        : [sample(document, schema.items, depth + 1)]
    case "integer":
    case "number":
      return schema.minimum ?? 1
    case "boolean":
      return true
    default:
      return ""
  }
}

/** Shows a schema as a list of fields with their types and limits. */
import type { ComponentChildren } from "preact"
import { Prose } from "../ui/prose.js"
import { type Document, follow, type Schema } from "./document.js"

/** The depth to which nested fields are shown. */
const deepest = 6

const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split("/").at(-1)

const atLeast = (least: number | undefined, unit: string): string => `${least} ${unit}${least === 1 ? "" : "s"}`

const limitsOf = (schema: Schema): ReadonlyArray<string> => {
  const {
    exclusiveMaximum,
    exclusiveMinimum,
    maxItems,
    maxLength,
    maximum,
    minItems,
    minLength,
    minProperties,
    minimum,
    pattern
  } = schema
  const parts: ReadonlyArray<readonly [value: number | string | undefined, text: string]> = [
    [minimum, `≥ ${minimum}`],
    [exclusiveMinimum, `> ${exclusiveMinimum}`],
    [maximum, `≤ ${maximum}`],
    [exclusiveMaximum, `< ${exclusiveMaximum}`],
    [minLength, `at least ${atLeast(minLength, "character")}`],
    [maxLength, `at most ${maxLength} characters`],
    [minItems, `at least ${atLeast(minItems, "item")}`],
    [maxItems, `at most ${maxItems} items`],
    [minProperties, `at least ${atLeast(minProperties, "field")}`],
    [pattern, `matches ${pattern}`]
  ]
  return parts.filter(([value]) => value !== undefined).map(([, text]) => text)
}

/** Names the type of a schema in a few words. */
export const typeText = (document: Document, given: Schema, depth = 0): string => {
  const schema = follow(document, given)
  const inner = (each: Schema) => depth > 3 ? "…" : typeText(document, each, depth + 1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  const union = schema.anyOf ?? schema.oneOf
  if (union !== undefined) return [...new Set(union.map(inner))].join(" | ")
  if (schema.allOf !== undefined && schema.type === undefined) return [...new Set(schema.allOf.map(inner))].join(" & ")
  const types = typeof schema.type === "string" ? [schema.type] : schema.type ?? []
  return types.length === 0 ? "any" : types.map((type) => {
    if (type === "array") return schema.items === undefined ? "array" : `array of ${inner(schema.items)}`
    return type === "string" && schema.format !== undefined ? `string (${schema.format})` : type
  }).join(" | ")
}

/** The fields of an object, or of the objects in an array or a union. */
const fieldsOf = (
  document: Document,
  given: Schema
): ReadonlyArray<readonly [name: string, schema: Schema, required: boolean]> => {
  const schema = follow(document, given)
  const own = Object.entries(schema.properties ?? {}).map(([name, property]) =>
    [name, property, schema.required?.includes(name) === true] as const
  )
  const parts = [
    ...schema.allOf ?? [],
    ...schema.anyOf ?? [],
    ...schema.oneOf ?? [],
    ...(schema.items === undefined ? [] : [schema.items])
  ]
  const inner = own.length > 0 && schema.allOf === undefined ? [] : parts.flatMap((part) => fieldsOf(document, part))
  return [...new Map([...own, ...inner].map((field) => [field[0], field])).values()]
}

export const TypeLine = ({ children, document, required, schema: given }: {
  readonly document: Document
  readonly schema: Schema
  readonly required?: boolean
  readonly children?: ComponentChildren
}) => {
  const schema = follow(document, given)
  const limits = limitsOf(schema)
  return (
    <>
      <span class="type mono">{typeText(document, given)}</span>
      {required === true && <span class="required">required</span>}
      {limits.length > 0 && <span class="soft">{limits.join(", ")}</span>}
      {children}
      {schema.description !== undefined && (
        <span class="meaning">
          <Prose text={schema.description} />
        </span>
      )}
    </>
  )
}

export const Fields = ({ document, schema, seen = [] }: {
  readonly document: Document
  readonly schema: Schema
  readonly seen?: ReadonlyArray<string>
}) => {
  const name = nameOf(schema)
  const path = name === undefined ? seen : [...seen, name]
  const fields = (name !== undefined && seen.includes(name)) || path.length > deepest ? [] : fieldsOf(document, schema)
  return fields.length === 0 ? null : (
    <ul class="fields">
      {fields.map(([field, property, required]) => (
        <li key={field}>
          <code class="name">{field}</code>
          <TypeLine document={document} schema={property} required={required} />
          <Fields document={document} schema={property} seen={name === undefined ? [...path, field] : path} />
        </li>
      ))}
    </ul>
  )
}

/** Annotations of schemas with parts, and structs that have other fields, too. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type MethodCall, propertyOf, rules } from "../convert/rules.js"

const schema = "effect/Schema"

/** The schemas that declare `annotations` themselves. */
const annotated = [
  "AnnotableDeclare",
  "Array$",
  "Class",
  "NullOr",
  "NullishOr",
  "Record$",
  "Schema",
  "Struct",
  "Tuple",
  "TypeLiteral",
  "UndefinedOr",
  "brand",
  "optional",
  "transform"
]

/** Keywords of JSON Schema that are annotations of Effect 4. `schema/jsonSchema` reads all others from the annotation `jsonSchema`. */
const isAnnotation = (property: ts.ObjectLiteralElementLike): boolean =>
  ["default", "description", "examples", "format", "title"].includes(property.name?.getText() ?? "")

export const annotations = ({ args, target }: MethodCall, c: File): string => {
  const [options] = args
  const jsonSchema = propertyOf(options, "jsonSchema")
  if (
    options === undefined || !ts.isObjectLiteralExpression(options) || jsonSchema === undefined ||
    !ts.isObjectLiteralExpression(jsonSchema) || !jsonSchema.properties.every(isAnnotation)
  ) {
    return `${c.text(target)}.annotate(${c.texts(args)})`
  }
  const properties = options.properties.flatMap((property) =>
    property.name?.getText() === "jsonSchema" ? jsonSchema.properties : property
  )
  return `${c.text(target)}.annotate({ ${properties.map((each) => c.text(each)).join(", ")} })`
}

/** The other fields of a struct, as a record. */
const rest = (index: ts.Expression, c: File): string => {
  const [key, value] = [propertyOf(index, "key"), propertyOf(index, "value")]
  return key && value ? `${c.name(schema, "Record")}(${c.texts([key, value])})` : c.text(index)
}

export default rules({
  calls: {
    [schema]: {
      positive: (_, c) => `${c.name(schema, "check")}(${c.name(schema, "isGreaterThan")}(0))`,
      Struct: ({ args: [fields, ...indexes] }, c) => {
        if (fields === undefined || indexes.length === 0) return undefined
        const struct = `${c.name(schema, "Struct")}(${c.text(fields)})`
        return `${c.name(schema, "StructWithRest")}(${struct}, [${indexes.map((index) => rest(index, c)).join(", ")}])`
      }
    }
  },
  methods: Object.fromEntries(annotated.map((name) => [`${schema}#${name}`, { annotations }]))
})

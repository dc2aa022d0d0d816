/** Reads parts of documents into the model: what comes of it, with the notes and the errors. */
import { SpecError } from "../../../src/generate/model/specError.js"
import { readOperations } from "../../../src/generate/read/operations.js"
import { SchemaReader } from "../../../src/generate/read/schemaReader.js"
import type { Json } from "./documents.js"

export const string = { type: "string" }
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** A value without its fields that are undefined. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** The shapes of strings, of numbers, of objects with fields and of references. */
export const text = (limits: Json = {}) => ({ _tag: "String", patterns: [], ...limits })
export const number = (limits: Json = {}) => ({ _tag: "Number", integer: false, ...limits })
export const object = (fields: { readonly [name: string]: unknown }, more: Json = {}) => ({
  _tag: "Object",
  fields: Object.entries(fields).map(([name, shape]) => ({
    name,
    shape,
    readOnly: false,
    writeOnly: false,
    deprecated: false
  })),
  required: [],
  additional: "unstated",
  ...more
})
export const refShape = (name: string) => ({ _tag: "Ref", name })
export const unknown = { _tag: "Unknown" }

/** The message of the error, which names the place, that a part is refused with. */
export const refusal = (read: () => unknown): string | undefined => {
  try {
    read()
    return undefined
  } catch (error) {
    if (error instanceof SpecError) return error.message
    throw error
  }
}

/** What is read of the operations of a document, with the notes. */
export const readAll = (document: Json) => {
  const reader = new SchemaReader(document)
  return { found: readOperations(document, reader), notes: reader.notes }
}

export interface Parts {
  readonly operation: Json
  readonly method?: string
  readonly path?: string
  /** Fields of the path item. */
  readonly item?: Json
  readonly components?: Json
}

/** What is read of one operation, or its error, with the notes. */
export const readOne = ({ components = {}, item = {}, method = "get", operation, path = "/things" }: Parts) => {
  const { found: [read], notes } = readAll({
    openapi: "3.1.0",
    paths: { [path]: { ...item, [method]: { operationId: "getThing", ...operation } } },
    components: { schemas: {}, ...components }
  })
  return read?._tag === "Operation"
    ? { operation: read.operation, notes }
    : { error: read?.error.message, notes }
}

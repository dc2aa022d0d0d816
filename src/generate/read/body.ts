/** Reads the bodies of requests. */
import type { Body } from "../model/operation.js"
import type { ObjectShape, Shape } from "../model/shape.js"
import { at, fail } from "../model/specError.js"
import { clearing, clearingObject } from "./clearing.js"
import * as Json from "./json.js"
import type { SchemaReader } from "./schemaReader.js"

const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/.test(type)

/** The media type that the client sends, of those that the operation accepts. */
const chosen = (content: Json.JsonObject, pointer: string): string => {
  const types = Object.keys(content)
  return types.find(isJson) ?? types.find((type) => type.startsWith("application/x-www-form-urlencoded")) ??
    types.find((type) => type.startsWith("multipart/form-data")) ?? (types.includes("*/*") ? "*/*" : undefined) ??
    fail(pointer, `no body can be sent as ${types.join(", ")}`)
}

/** A part of a form: a file, or the text of a value. */
const asPart = (reader: SchemaReader, shape: Shape, pointer: string): Shape => {
  const target = reader.dereference(shape)
  switch (target._tag) {
    case "File":
    case "String":
    case "Number":
    case "Boolean":
    case "Literal":
      return shape
    case "Unknown":
      return { _tag: "File" } // in OpenAPI 3.1, a part without a type is a file
    default:
      reader.note(pointer, "the part is sent as the text that the caller gives")
      return { _tag: "String", patterns: [] }
  }
}

const multipart = (reader: SchemaReader, shape: ObjectShape, pointer: string): Body => ({
  _tag: "Multipart",
  shape: {
    ...shape,
    fields: shape.fields.map((field) => ({
      ...field,
      shape: asPart(reader, field.shape, at(pointer, "properties", field.name))
    }))
  }
})

/** The fields of an object without those that only the service sets. */
const writable = (shape: ObjectShape): ObjectShape => {
  const fields = shape.fields.filter(({ readOnly }) => !readOnly)
  const names = fields.map(({ name }) => name)
  const hidden = shape.fields.filter(({ readOnly }) => readOnly).map(({ name }) => name)
  const required = shape.required.filter((name) => !hidden.includes(name))
  const untyped = required.filter((name) => !names.includes(name)).map((name) => ({
    name,
    shape: { _tag: "Unknown" as const },
    readOnly: false,
    writeOnly: false,
    deprecated: false
  }))
  return { ...shape, fields: [...fields, ...untyped], required }
}

/** The body of a request; `undefined` if the operation has none. */
export const readBody = (
  reader: SchemaReader,
  value: unknown,
  valuePointer: string,
  isChange: boolean
): Body | undefined => {
  if (value === undefined) return undefined
  const [body, pointer] = reader.resolve(value, valuePointer)
  const place = at(pointer, "content")
  const content = Json.objectOrEmpty(body["content"], place)
  if (Object.keys(content).length === 0) return undefined
  const type = chosen(content, place)
  const media = Json.object(content[type], at(place, type))
  const schemaPlace = at(place, type, "schema")
  const shape: Shape = media["schema"] === undefined ? { _tag: "Unknown" } : reader.read(media["schema"], schemaPlace)
  const target = reader.dereference(shape)
  if (type.startsWith("multipart/")) {
    return target._tag === "Object"
      ? multipart(reader, writable(target), schemaPlace)
      : fail(schemaPlace, "a multipart body must be an object")
  }
  if (!isJson(type) && type !== "*/*") {
    reader.note(at(place, type), "the body must be sent as a form: call with IdentityClient.withFormBody")
  }
  const isOptional = body["required"] === false ||
    (body["required"] !== true && target._tag === "Union" && target.branches.some(({ _tag }) => _tag === "Null"))
  if (target._tag !== "Object" || (target.fields.length === 0 && target.additional !== "closed") || isOptional) {
    return { _tag: "Whole", shape: isChange ? clearing(reader, shape) : shape, isOptional }
  }
  if (target.additional !== "closed" && target.additional !== "unstated") {
    reader.note(schemaPlace, "fields without names are not sent")
  }
  if (target.max !== undefined) reader.note(at(schemaPlace, "maxProperties"), "the limit is not checked")
  const payload = writable(target)
  return { _tag: "Payload", shape: isChange ? clearingObject(reader, payload) : payload }
}

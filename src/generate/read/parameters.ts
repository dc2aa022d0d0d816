/** Reads the parameters of an operation: path, query and header. */
import type { Parameter } from "../model/operation.js"
import { anyString, type Shape, union } from "../model/shape.js"
import { at, fail } from "../model/specError.js"
import * as Json from "./json.js"
import type { SchemaReader } from "./schemaReader.js"

interface Read extends Parameter {
  readonly place: "path" | "query" | "header"
}

/** Headers that are described elsewhere: OpenAPI ignores parameters of these names. */
const ignoredHeaders = ["accept", "authorization", "content-type"]

/** The schema of a parameter's text. The library refuses empty parameters of paths by itself. */
const asText = (shape: Shape, reader: SchemaReader): Shape => {
  const target = reader.dereference(shape)
  switch (target._tag) {
    case "String":
      return target.min !== undefined && target.min <= 1 ? { ...target, min: undefined } : shape
    case "Literal":
      return target.values.every((value) => typeof value === "string")
        ? shape
        : { _tag: "Literal", values: target.values.map(String) }
    case "Number":
      return target.integer ? { ...anyString, patterns: ["^-?[0-9]+$"] } : anyString
    case "Boolean":
      return { _tag: "Literal", values: ["true", "false"] }
    case "Union":
      return union(target.branches.filter(({ _tag }) => _tag !== "Null").map((branch) => asText(branch, reader)))
    default:
      return anyString
  }
}

const withoutNull = (shape: Shape): Shape =>
  shape._tag === "Union" ? union(shape.branches.filter(({ _tag }) => _tag !== "Null")) : shape

const shapeOf = (reader: SchemaReader, parameter: Json.JsonObject, pointer: string): Shape => {
  if (parameter["schema"] !== undefined) return reader.read(parameter["schema"], at(pointer, "schema"))
  if (parameter["content"] === undefined) return fail(pointer, "the parameter has no schema")
  reader.note(at(pointer, "content"), "the parameter is sent as the text that the caller gives")
  return anyString
}

const checkStyle = (reader: SchemaReader, parameter: Json.JsonObject, shape: Shape, pointer: string): void => {
  const { explode, style } = parameter
  const { _tag } = reader.dereference(shape)
  if (_tag !== "Array" && _tag !== "Tuple" && _tag !== "Object") return
  if (explode === false || (style !== undefined && style !== "form" && style !== "deepObject")) {
    const sent = _tag === "Object" ? "an object is sent as names in brackets" : "a list is sent as repeated names"
    reader.note(pointer, `${sent}, not in the style that the document states`)
  }
}

const readParameter = (reader: SchemaReader, value: unknown, valuePointer: string): Read | undefined => {
  const [parameter, pointer] = reader.resolve(value, valuePointer)
  const written = Json.string(parameter["name"]) ?? fail(at(pointer, "name"), "the parameter has no name")
  const place = parameter["in"]
  if (place === "cookie") {
    reader.note(pointer, "cookies are not sent")
    return undefined
  }
  if (place !== "path" && place !== "query" && place !== "header") {
    return fail(at(pointer, "in"), "expected path, query, header or cookie")
  }
  if (written === "__proto__") fail(at(pointer, "name"), "a field cannot be called __proto__")
  const name = place === "header" ? written.toLowerCase() : written
  if (place === "header" && ignoredHeaders.includes(name)) return undefined
  const shape = shapeOf(reader, parameter, pointer)
  if (place === "query") checkStyle(reader, parameter, shape, pointer)
  return {
    place,
    name,
    shape: place === "query" ? withoutNull(shape) : asText(shape, reader),
    required: place === "path" || parameter["required"] === true,
    deprecated: parameter["deprecated"] === true,
    description: Json.string(parameter["description"])
  }
}

/** The parameters of a path item and of its operation. The operation's own take the place of those of the path item. */
export const readParameters = (
  reader: SchemaReader,
  path: string,
  lists: ReadonlyArray<readonly [value: unknown, pointer: string]>
): { readonly [Place in "params" | "query" | "headers"]: ReadonlyArray<Parameter> } => {
  const all = new Map<string, Read>()
  for (const [value, pointer] of lists) {
    const here = new Set<string>()
    for (const [index, each] of (value === undefined ? [] : Json.array(value, pointer)).entries()) {
      const read = readParameter(reader, each, at(pointer, index))
      if (read === undefined) continue
      const key = `${read.place} ${read.name}`
      if (here.has(key)) fail(at(pointer, index), `the parameter ${read.name} occurs twice`)
      here.add(key)
      all.set(key, read)
    }
  }
  const within = (place: Read["place"]): ReadonlyArray<Parameter> =>
    [...all.values()].filter((read) => read.place === place)
      .map(({ deprecated, description, name, required, shape }) => ({ name, shape, required, deprecated, description }))
  return { params: pathParameters(path, within("path")), query: within("query"), headers: within("header") }
}

/** The parameters in the order of the path. */
const pathParameters = (path: string, params: ReadonlyArray<Parameter>): ReadonlyArray<Parameter> => {
  const pointer = at("#/paths", path)
  if (/[?#]/.test(path)) fail(pointer, "a path cannot contain ? or #")
  const names = path.split("/").flatMap((segment) => {
    if (!/[{}]/.test(segment)) {
      return segment.startsWith(":")
        ? fail(pointer, "a segment cannot begin with a colon")
        : []
    }
    const [, name] = /^\{([^{}]+)\}$/.exec(segment) ?? []
    return name ?? fail(pointer, `the segment ${segment} is not one parameter as a whole`)
  })
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) fail(pointer, `the parameter ${twice} occurs twice in the path`)
  const stray = params.find(({ name }) => !names.includes(name))
  if (stray !== undefined) fail(pointer, `the path has no place for the parameter ${stray.name}`)
  return names.map((name) =>
    params.find((parameter) => parameter.name === name) ??
      fail(pointer, `the path's parameter ${name} is not described`)
  )
}

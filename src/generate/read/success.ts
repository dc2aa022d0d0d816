/** Reads the bodies of successes. */
import type { Success } from "../model/operation.js"
import { type Shape, union } from "../model/shape.js"
import { at } from "../model/specError.js"
import * as Json from "./json.js"
import type { SchemaReader } from "./schemaReader.js"

const isJson = (type: string): boolean => /^(?:application\/(?:[\w.+-]+\+)?json\b|\*\/\*)/.test(type)

interface Found {
  readonly _tag: "None" | "Json" | "Events"
  /** Its schema, if it has one. */
  readonly shape: Shape | undefined
  /** It has events, perhaps beside JSON. */
  readonly hasEvents: boolean
}

const none: Found = { _tag: "None", shape: undefined, hasEvents: false }

const isEvents = (type: string): boolean => type.startsWith("text/event-stream")

const readContent = (reader: SchemaReader, content: Json.JsonObject, pointer: string): Found => {
  const types = Object.keys(content)
  const type = types.find(isJson) ?? types.find(isEvents)
  if (type === undefined) {
    if (types.length > 0) reader.note(pointer, `the body is ${types.join(", ")}, so it is not decoded`)
    return none
  }
  const { schema } = Json.object(content[type], at(pointer, type))
  const shape = schema === undefined ? undefined : reader.read(schema, at(pointer, type, "schema"))
  return { _tag: isJson(type) ? "Json" : "Events", shape, hasEvents: types.some(isEvents) }
}

/** The body of the successes together; `undefined` if none has a body that is described. */
export const readSuccess = (reader: SchemaReader, value: unknown, pointer: string): Success | undefined => {
  const found = Object.entries(Json.objectOrEmpty(value, pointer))
    .filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
    .map(([status, response]): Found => {
      if (status === "204" || status === "205") return none // HTTP gives these no body, whatever the document says
      const [resolved, place] = reader.resolve(response, at(pointer, status))
      return readContent(reader, Json.objectOrEmpty(resolved["content"], at(place, "content")), at(place, "content"))
    })
  const hasJson = found.some(({ _tag }) => _tag === "Json")
  const kept = hasJson ? found.filter(({ _tag }) => _tag !== "Events") : found
  if (hasJson && found.some(({ hasEvents }) => hasEvents)) {
    reader.note(pointer, "the operation returns JSON or events; the events are left out")
  }
  const shapes = kept.flatMap(({ shape }) => shape === undefined ? [] : [shape])
  if (shapes.length === 0) return undefined
  return { shape: union(shapes), isOptional: shapes.length < kept.length, isStream: !hasJson }
}

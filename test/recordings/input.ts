/** Turns a recorded request into the input of an operation. */
import * as Schema from "effect/Schema"
import type { Any, Fields } from "../../src/Endpoint.js"
import { isObject, type Json, type JsonObject } from "../generate/harness/document.js"
import type { Exchange } from "./exchange.js"

/** An input, and what the operation does not describe: `IdentityClient.withFields` sends that. */
export interface Input {
  readonly fields: JsonObject
  readonly extra: Extra
}

export interface Extra {
  readonly body: JsonObject
  readonly query: Readonly<Record<string, Json>>
}

const prefix = "/api/v2"

/** The fields of the path. */
const paramsOf = (template: string, path: string): JsonObject => {
  const [names, values] = [template, path.slice(prefix.length)].map((text) => text.split("/"))
  return Object.fromEntries(
    names!.flatMap((name, index) => name.startsWith(":") ? [[name.slice(1), decodeURIComponent(values![index]!)]] : [])
  )
}

/** The values that a text of a query may stand for. */
const readings = (texts: ReadonlyArray<string>): ReadonlyArray<Json> => {
  const [text = ""] = texts
  return [
    ...texts.length > 1 ? [] : [text],
    ...text === "true" || text === "false" ? [text === "true"] : [],
    ...text !== "" && String(Number(text)) === text ? [Number(text)] : [],
    texts
  ]
}

/** Checks a value by the schema of a field; nothing is known of one that is not described. */
const accepts = (field: Fields[string] | undefined, value: Json): boolean =>
  field === undefined || Schema.is(Schema.make(Schema.Struct({ field }).ast))({ field: value })

/** The fields of the query that the operation describes, each as the first reading that its schema accepts, and the others. */
const queryOf = (
  described: Fields = {},
  query: string
): { readonly known: JsonObject; readonly unknown: JsonObject } => {
  const [known, unknown]: [Record<string, Json>, Record<string, Json>] = [{}, {}]
  const given = new URLSearchParams(query)
  for (const name of new Set(given.keys())) {
    const values = readings(given.getAll(name))
    const field = described[name]
    const target = field === undefined ? unknown : known
    target[name] = values.find((value) => accepts(field, value)) ?? values[0]!
  }
  return { known, unknown }
}

/** The body as JSON. The recorders write `null` where no body was sent. */
export const bodyOf = (text: string): Json | undefined => {
  const trimmed = text.trim()
  return trimmed === "" || trimmed === "null" ? undefined : JSON.parse(trimmed)
}

interface Part {
  readonly name: string
  readonly fileName: string | undefined
  readonly content: string
}

/** The parts of a multipart body, by their names. */
export const partsOf = (text: string): ReadonlyArray<Part> => {
  const [boundary = ""] = text.split("\r\n", 1)
  return text.split(boundary).slice(1, -1).map((part) => {
    const end = part.indexOf("\r\n\r\n")
    const head = part.slice(0, end)
    return {
      name: /name="([^"]*)"/.exec(head)?.[1] ?? "",
      fileName: /filename="([^"]*)"/.exec(head)?.[1],
      content: part.slice(end + 4, -2)
    }
  }).sort((a, b) => a.name < b.name ? -1 : 1)
}

/** A part as a value of its field: a file, or the first reading that the field accepts. */
const valueOf = (field: Fields[string] | undefined, { content, fileName }: Part): Json => {
  if (fileName !== undefined) return { name: fileName, content }
  return readings([content]).find((value) => accepts(field, value)) ?? content
}

/** The input of a recorded request. */
export const inputOf = (endpoint: Any, { path, query, requestBody }: Exchange): Input => {
  const params = paramsOf(endpoint.path, path)
  const { known, unknown } = queryOf(endpoint.query, query)
  const input = (body: JsonObject, extra: JsonObject = {}): Input => (
    { fields: { ...params, ...known, ...body }, extra: { body: extra, query: unknown } }
  )
  const { body, multipart, payload } = endpoint
  if (multipart !== undefined) {
    return input(
      Object.fromEntries(partsOf(requestBody).map((part) => [part.name, valueOf(multipart[part.name], part)]))
    )
  }
  const sent = bodyOf(requestBody)
  if (sent === undefined) return input({})
  if (body !== undefined) return input({ body: sent })
  if (!isObject(sent)) return input({}, {})
  return payload === undefined ? input({}, sent) : input(sent)
}

const steps = (path: string): ReadonlyArray<string> => path.split(/[.[\]]+/).filter((step) => step !== "")

/** A value without the field at a path, and what was there. */
const without = (value: Json, [step, ...rest]: ReadonlyArray<string>): Json => {
  if (step === undefined) return value
  if (Array.isArray(value)) return value.map((item, index) => index === Number(step) ? without(item, rest) : item)
  if (!isObject(value) || !(step in value)) return value
  const { [step]: inner, ...others } = value
  return rest.length === 0 ? others : { ...others, [step]: without(inner!, rest) }
}

/** The value at a path, within objects of its own; of a list all of it, because fields are merged into objects only. */
const only = (value: Json, [step, ...rest]: ReadonlyArray<string>): Json => {
  if (step === undefined || !isObject(value)) return value
  return { [step]: only(value[step]!, rest) }
}

const merge = (a: JsonObject, b: JsonObject): JsonObject => {
  const merged: Record<string, Json> = { ...a }
  for (const [name, value] of Object.entries(b)) {
    const known = merged[name]
    merged[name] = isObject(known) && isObject(value) ? merge(known, value) : value
  }
  return merged
}

/** Moves a field that the operation does not describe to the fields that are sent as they are. */
export const moved = ({ extra, fields }: Input, path: string, hasBody: boolean): Input => {
  const all = steps(path)
  const place = hasBody && all[0] === "body" ? all.slice(1) : all
  const given = hasBody && all[0] === "body" ? fields["body"]! : fields
  const field = only(merge(isObject(given) ? given : {}, extra.body), place)
  // Sound: without a field an object remains.
  return {
    fields: without(fields, all) as JsonObject,
    extra: { ...extra, body: merge(field as JsonObject, extra.body) }
  }
}

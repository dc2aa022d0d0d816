/** Inputs of an operation, made from the document, and what its requests must look like on the wire. */
import * as Stream from "effect/Stream"
import { type Described, isObject, type Json, type JsonObject, objectOf, resolve } from "./document.js"
import type { Use, Values } from "./values.js"

/** An input in the parts of the request that carry it. */
export interface Input {
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, Json>>
  readonly header: Readonly<Record<string, string>>
  /** `undefined`: no body is sent. */
  readonly body: Json | undefined
}

/** The place of the body's fields in the caller's input. */
export type BodyKind = "payload" | "body" | "multipart" | undefined

const most = 24

/** Inputs with everything, with what is required, and with each further value of each part. */
export const inputsOf = (described: Described, values: Values, kind: BodyKind): ReadonlyArray<Input> => {
  const fields = described.parameters.map(({ name, place, required, schema }) => {
    const found = values.of(schema, place)
    return { name, place, required, values: place === "query" ? found : found.map(String) }
  })
  const bodies = described.body === undefined ? [] : values.of(described.body.schema, "body")
  const pick = (of: (field: typeof fields[number]) => Json | undefined, body: Json | undefined): Input => {
    const part = (place: Use) =>
      Object.fromEntries(fields.flatMap((field) => {
        const value = field.place === place ? of(field) : undefined
        return value === undefined ? [] : [[field.name, value]]
      }))
    // Sound: values of paths and headers are texts.
    return {
      path: part("path") as Input["path"],
      query: part("query"),
      header: part("header") as Input["header"],
      body
    }
  }
  const mayLackBody = described.body?.required === false && kind === "body"
  const full = pick(({ values }) => values[0], bodies[0])
  const minimal = pick(
    ({ required, values }) => required ? values[1] ?? values[0] : undefined,
    mayLackBody ? undefined : bodies[1] ?? bodies[0]
  )
  const others = fields.flatMap((field) =>
    field.values.slice(1).map((value) => pick((each) => each === field ? value : each.values[0], bodies[0]))
  )
  const withBodies = bodies.slice(1).map((body) => ({ ...full, body }))
  return [full, minimal, ...others.slice(0, most), ...withBodies]
}

const isFile = (document: JsonObject, schema: JsonObject): boolean => {
  const { contentMediaType, format, type } = resolve(document, schema)
  return type === undefined || (type === "string" && (format === "binary" || contentMediaType !== undefined))
}

/** The parts of a multipart body; files are marked. */
const partsOf = (document: JsonObject, { body }: Described, input: Input) => {
  const properties = objectOf(resolve(document, body?.schema)["properties"])
  return Object.entries(objectOf(input.body)).map(([name, value]) => ({
    name,
    isFile: isFile(document, objectOf(properties[name])),
    text: typeof value === "string" ? value : JSON.stringify(value)
  }))
}

const fileName = "a \"ü\".json"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** The three forms of a file's content. */
const contents = [
  bytes,
  (text: string) => text,
  (text: string) => Stream.make(bytes(text.slice(0, 1)), bytes(text.slice(1)))
]

/** The input as the caller gives it. */
export const callerInput = (
  document: JsonObject,
  described: Described,
  input: Input,
  kind: BodyKind,
  index: number
): Readonly<Record<string, unknown>> => {
  const { body, header, path, query } = input
  const fields = { ...path, ...query, ...header }
  if (body === undefined || kind === undefined) return fields
  if (kind === "body") return { ...fields, body }
  if (kind === "payload") return { ...fields, ...objectOf(body) }
  const parts = partsOf(document, described, input).map(({ isFile, name, text }) => [
    name,
    isFile
      ? { name: fileName, contentType: "application/json", content: contents[index % contents.length]!(text) }
      : objectOf(body)[name]
  ])
  return { ...fields, ...Object.fromEntries(parts) }
}

/** A request as the socket received it. */
export interface Received {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Buffer
}

/** JSON with its fields in the order of their names. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    inner instanceof Uint8Array
      ? `bytes ${Buffer.from(inner).toString("base64")}`
      : isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
      : inner) ?? "undefined"

const queryPairs = (name: string, value: Json): ReadonlyArray<string> =>
  Array.isArray(value)
    ? value.flatMap((each) => queryPairs(name, each))
    : isObject(value)
    ? Object.entries(value).flatMap(([key, each]) => queryPairs(`${name}[${key}]`, each))
    : [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`]

/** Lists how a request differs from what the document says. */
export const differences = (
  document: JsonObject,
  described: Described,
  input: Input,
  base: string,
  { body, headers, method, target }: Received
): ReadonlyArray<string> => {
  const found: Array<string> = []
  const compare = (what: string, actual: unknown, expected: unknown) => {
    if (canonical(actual) !== canonical(expected)) {
      found.push(`${what}: sent ${canonical(actual).slice(0, 200)}, expected ${canonical(expected).slice(0, 200)}`)
    }
  }
  compare("method", method, described.method)
  const path = described.path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(input.path[name] ?? ""))
  const [sentPath, query = ""] = target.split("?")
  compare("path", sentPath, `${base}${path}`)
  const pairs = Object.entries(input.query).flatMap(([name, value]) => queryPairs(name, value))
  compare("query", query === "" ? [] : query.split("&").sort(), [...pairs].sort())
  for (const [name, value] of Object.entries(input.header)) compare(`header ${name}`, headers[name], value)
  compare("authorization", /^Bearer [\w.-]+$/.test(String(headers["authorization"])), true)
  if (input.body === undefined) {
    compare("content-type", headers["content-type"], undefined)
    compare("body", body.length, 0)
  } else if (described.body?.type === "application/json") {
    compare("content-type", headers["content-type"], "application/json")
    compare("body", parse(body.toString()), input.body)
  } else if (described.body?.type === "multipart/form-data") {
    compare(
      "body",
      multipart(headers["content-type"], body),
      partsOf(document, described, input).map((part) => [
        part.name,
        part.isFile ? "a \"ü\".json".replaceAll("\"", "%22") : undefined,
        part.isFile ? "application/json" : undefined,
        part.text
      ])
    )
  }
  return found
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return `no JSON: ${text}`
  }
}

/** Splits a multipart body into name, file name, type and text of each part. */
const multipart = (contentType: unknown, body: Buffer): unknown => {
  const [, boundary] = /^multipart\/form-data; ?boundary="?([^";]+)"?$/.exec(String(contentType)) ?? []
  const parts = body.toString().split(`--${boundary}`)
  if (parts[0] !== "" || parts.at(-1)?.trim() !== "--") return "no multipart body"
  return parts.slice(1, -1).map((part) => {
    const end = part.indexOf("\r\n\r\n")
    const head = part.slice(2, end)
    const field = (expression: RegExp) => expression.exec(head)?.[1]
    return [
      field(/; name="([^"]*)"/),
      field(/filename="([^"]*)"/),
      field(/content-type: (.*)/i),
      part.slice(end + 4, -2)
    ]
  })
}

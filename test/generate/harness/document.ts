/** The operations of an OpenAPI document, read without the generator, so that both readings can be compared. */

export type Json = string | number | boolean | null | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const objectOf = (value: unknown): JsonObject => isObject(value) ? value : {}

export const listOf = (value: unknown): ReadonlyArray<Json> => Array.isArray(value) ? value : []

interface Parameter {
  readonly name: string
  readonly place: "path" | "query" | "header"
  readonly required: boolean
  readonly schema: JsonObject
}

export interface Described {
  readonly method: string
  /** The path after the base URL, as the document writes it. */
  readonly path: string
  readonly parameters: ReadonlyArray<Parameter>
  readonly body:
    | { readonly required: boolean | undefined; readonly type: string; readonly schema: JsonObject }
    | undefined
  /** The successes, with the schema of their JSON; `undefined` if the body is empty or is not described. */
  readonly successes: ReadonlyArray<{ readonly status: number; readonly schema: JsonObject | undefined }>
  /** The schema of the data of each event, if a success is a stream of them. */
  readonly events: JsonObject | undefined
  /** The documented statuses of failures. */
  readonly failures: ReadonlyArray<number>
  readonly scopes: ReadonlyArray<string>
}

/** Follows the references of a part of the document. */
export const resolve = (document: JsonObject, value: unknown): JsonObject => {
  const found = objectOf(value)
  if (typeof found["$ref"] !== "string") return found
  const target = found["$ref"].slice(2).split("/").reduce<unknown>(
    (at, key) => (at as JsonObject | undefined)?.[decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")],
    document
  )
  return resolve(document, target)
}

/** A document whose schemas describe each field that they require: a field that they do not describe can be anything. */
export const withRequiredFields = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withRequiredFields)
  if (!isObject(value)) return value
  const inner = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withRequiredFields(each)]))
  const { required } = inner
  if (!Array.isArray(required)) return inner
  return {
    ...inner,
    properties: { ...Object.fromEntries(required.map((name) => [name, {}])), ...objectOf(inner["properties"]) }
  }
}

const isJson = (type: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b|^\*\/\*/.test(type)

const methods = ["get", "post", "put", "patch", "delete"]

/** HTTP allows no body with these statuses, whatever the document says. */
const bodiless = [204, 205]

const prefix = "/api/v2"

export const operationsOf = (document: JsonObject): ReadonlyArray<Described> => {
  const paths = Object.entries(objectOf(document["paths"]))
  const isPrefixed = paths.some(([path]) => path.startsWith(`${prefix}/`))
  return paths.flatMap(([fullPath, value]) => {
    if (isPrefixed && !fullPath.startsWith(`${prefix}/`)) return [] // outside of the base URL
    const item = resolve(document, value)
    const path = isPrefixed ? fullPath.slice(prefix.length) : fullPath
    return methods.flatMap((method) =>
      isObject(item[method]) ? [describe(document, method, path, item, item[method])] : []
    )
  })
}

const describe = (
  document: JsonObject,
  method: string,
  path: string,
  item: JsonObject,
  operation: JsonObject
): Described => {
  const parameters = new Map<string, Parameter>()
  for (const each of [...listOf(item["parameters"]), ...listOf(operation["parameters"])]) {
    const { in: place, name, required, schema } = resolve(document, each)
    if (place !== "path" && place !== "query" && place !== "header") continue
    if (place === "header" && ["accept", "authorization", "content-type"].includes(String(name).toLowerCase())) continue
    parameters.set(`${place} ${name}`, {
      name: place === "header" ? String(name).toLowerCase() : String(name),
      place,
      required: place === "path" || required === true,
      schema: objectOf(schema ?? { type: "string" })
    })
  }
  const responses = Object.entries(objectOf(operation["responses"]))
    .map(([status, response]) => ({
      status: Number(status.replace(/^2XX$/i, "200")),
      content: objectOf(resolve(document, response)["content"])
    }))
  const security = listOf(operation["security"] ?? document["security"])
  return {
    method: method.toUpperCase(),
    path,
    parameters: [...parameters.values()],
    body: bodyOf(document, operation),
    successes: responses.filter(({ status }) => status >= 200 && status < 300).map(({ content, status }) => {
      const type = Object.keys(content).find(isJson)
      const { schema } = objectOf(type === undefined ? undefined : content[type])
      return { status, schema: schema === undefined || bodiless.includes(status) ? undefined : objectOf(schema) }
    }),
    events: eventsOf(responses.map(({ content }) => content)),
    failures: responses.map(({ status }) => status).filter((status) => status >= 300),
    scopes: [...new Set(security.flatMap((way) => Object.values(objectOf(way)).flatMap(listOf).map(String)))]
  }
}

const eventsOf = (contents: ReadonlyArray<JsonObject>): JsonObject | undefined => {
  const found = contents.find((content) => "text/event-stream" in content)
  if (found === undefined || contents.some((content) => Object.keys(content).some(isJson))) return undefined
  return objectOf(objectOf(found["text/event-stream"])["schema"])
}

const bodyOf = (document: JsonObject, operation: JsonObject): Described["body"] => {
  if (operation["requestBody"] === undefined) return undefined
  const { content, required } = resolve(document, operation["requestBody"])
  const types = Object.keys(objectOf(content))
  const type = types.find(isJson) ?? types.find((type) => type.includes("urlencoded")) ?? types[0]
  if (type === undefined) return undefined
  const { schema } = objectOf(objectOf(content)[type])
  return {
    required: typeof required === "boolean" ? required : undefined,
    type: isJson(type) ? "application/json" : type,
    schema: objectOf(schema)
  }
}

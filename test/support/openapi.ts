/** Checks requests and responses against the OpenAPI document by JSON Schema, without the declarations it was made from. */
import { Ajv2020 } from "ajv/dist/2020.js"
import { Either } from "effect"
import type * as Endpoint from "../../src/Endpoint.js"
import * as Tenant from "../../src/Tenant.js"
import { type FieldValues, readForm } from "./operations.js"

type Reference = { readonly $ref: string }
/** JSON Schema, as far as the tests read it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly minProperties?: number
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly items?: Schema
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: ReadonlyArray<string>
}

interface Parameter {
  readonly name: string
  readonly in: "path" | "query"
  readonly required: boolean
  readonly schema: Schema
}

type Content = { readonly [type: string]: { readonly schema?: Schema } }

interface Response {
  readonly description: string
  readonly headers?: { readonly [name: string]: Reference }
  readonly content?: Content
}

/** Operation of the document. */
export interface Described {
  readonly operationId: string
  readonly summary: string
  readonly security: ReadonlyArray<{ readonly [scheme: string]: ReadonlyArray<string> }>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content }
  readonly responses: { readonly [status: string]: Response | Reference }
}

/** The document, typed as far as the tests read it. */
// Sound: a test validates the document against the schema of OpenAPI 3.1.
export const document = Tenant.openapi as unknown as {
  readonly info: { readonly version: string }
  readonly paths: { readonly [path: string]: { readonly [method: string]: Described } }
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema }
    readonly responses: { readonly [status: string]: Response }
    readonly headers: { readonly [name: string]: { readonly schema: Schema } }
  }
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

const compileWith = (coerceTypes: boolean) => {
  const ajv = new Ajv2020({
    strict: true,
    coerceTypes,
    formats: { uri: (text: string) => URL.canParse(text), "date-time": dateTime }
  })
  const compile = (schema: object) => ajv.compile({ ...schema, components: document.components })
  ajv.addVocabulary(["components"])
  const known = new Map<string, (value: unknown) => boolean>()
  return (schema: Schema): (value: unknown) => boolean => {
    const key = JSON.stringify(schema)
    const check = known.get(key) ?? compile(schema)
    known.set(key, check)
    return (value) => check(structuredClone(value))
  }
}

/** Compiles a check of JSON values. */
export const compiled = compileWith(false)

/** Compiles a check of values that are sent as text: in a path, a query, a form or a header. */
const compiledText = compileWith(true)

/** Returns the document's operation for a declared one. */
export const operationOf = ({ name }: Endpoint.Any): Described => {
  const [found] = Object.values(document.paths).flatMap((methods) => Object.values(methods)).filter(
    ({ operationId }) => operationId === name
  )
  if (found === undefined) throw new Error(`the document has no ${name}`)
  return found
}

/** Tells whether the document allows a flat input of an operation. */
export const accepts = (endpoint: Endpoint.Any, input: FieldValues): boolean => {
  const { parameters = [], requestBody } = operationOf(endpoint)
  const isParameter = (name: string) => parameters.some((parameter) => parameter.name === name)
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !isParameter(name)))
  return parameters.every(({ name, required, schema }) => name in input ? compiled(schema)(input[name]) : !required) &&
    (requestBody === undefined
      ? Object.keys(rest).length === 0
      : compiled(requestBody.content["application/json"]?.schema ?? {})(rest))
}

/** Request and response, as they were sent. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyArray<readonly [string, string]>
  readonly contentType: string | undefined
  readonly body: string | undefined
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly responseBody: string
}

const findOperation = ({ method, path }: Exchange) => {
  for (const [template, methods] of Object.entries(document.paths)) {
    const names = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name ?? "")
    const match = new RegExp(`^${template.replace(/\{[^}]+\}/g, "([^/]+)")}$`).exec(path)
    const operation = methods[method.toLowerCase()]
    if (match === null || operation === undefined) continue
    return {
      operation,
      params: Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(match[i + 1] ?? "")]))
    }
  }
  return undefined
}

/** Parses JSON. Returns other text as it is, which no schema of an object accepts. */
const parse = (text: string): unknown => Either.getOrElse(Either.try((): unknown => JSON.parse(text)), () => text)

const mediaType = (contentType: string | undefined) => contentType?.split(";")[0] ?? ""

const requestFaults = (exchange: Exchange, operation: Described, params: Readonly<Record<string, string>>) => {
  const { body, contentType, query } = exchange
  const given = new Map(query)
  const faults: Array<string> = []
  for (const { in: place, name, required, schema } of operation.parameters ?? []) {
    const value = place === "path" ? params[name] : given.get(name)
    given.delete(place === "query" ? name : "")
    if (value === undefined ? required : !compiledText(schema)(value)) faults.push(`request: ${place} ${name}`)
  }
  for (const name of given.keys()) faults.push(`request: unknown parameter ${name}`)
  if (operation.requestBody === undefined) {
    if (body !== undefined || contentType !== undefined) faults.push("request: unexpected body")
    return faults
  }
  const media = operation.requestBody.content[mediaType(contentType)]
  if (media === undefined) return [...faults, `request: unexpected media type ${contentType}`]
  const isForm = mediaType(contentType) !== "application/json"
  const value: unknown = isForm ? readForm((body ?? "").replaceAll("+", "%20")) : parse(body ?? "")
  if (!(isForm ? compiledText : compiled)(media.schema ?? {})(value)) faults.push("request: invalid body")
  return faults
}

const responseFaults = ({ headers, responseBody, status }: Exchange, operation: Described) => {
  const named = operation.responses[status] ?? operation.responses["default"]
  if (named === undefined) return [`response: unexpected status ${status}`]
  const response = "$ref" in named ? document.components.responses[named.$ref.split("/").at(-1) ?? ""] : named
  const faults: Array<string> = []
  for (const name of Object.keys(response?.headers ?? {})) {
    const schema = document.components.headers[name]?.schema
    const value = headers[name.toLowerCase()]
    if (value === undefined || schema === undefined || !compiledText(schema)(value)) {
      faults.push(`response: header ${name}`)
    }
  }
  if (response?.content === undefined) return responseBody === "" ? faults : [...faults, "response: unexpected body"]
  const media = response.content[mediaType(headers["content-type"])]
  if (media === undefined) return [...faults, `response: unexpected media type ${headers["content-type"]}`]
  if (!compiled(media.schema ?? {})(parse(responseBody))) faults.push("response: invalid body")
  return faults
}

/** Lists the differences between an exchange and the document. */
export const faultsOf = (exchange: Exchange): ReadonlyArray<string> => {
  const found = findOperation(exchange)
  return found === undefined
    ? ["request: unknown path"]
    : [...requestFaults(exchange, found.operation, found.params), ...responseFaults(exchange, found.operation)]
}

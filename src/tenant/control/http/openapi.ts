/**
 * The OpenAPI 3.1 document of the control interface, made from its declaration. `OpenApi.fromApi` would promise its own 400 in place of the
 * refusals, require every body, and have one rule for the fields of requests and responses.
 */
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import { type Converter, type Json, type JsonObject, make as makeConverter } from "../../docs/jsonSchema.js"
import { keyHeader } from "../messages.js"
import { api, endpoints } from "./api.js"
import type { Endpoint } from "./endpoints.js"
import { Refusal } from "./schemas.js"

const parameters = (
  { convert }: Converter,
  place: "path" | "query",
  schema: Endpoint["query"]
): ReadonlyArray<Json> => {
  if (schema === undefined) return []
  // Sound: this is the JSON Schema of a struct without an identifier.
  const { properties = {}, required = [] } = convert(schema, "request") as {
    readonly properties?: Readonly<Record<string, JsonObject>>
    readonly required?: ReadonlyArray<string>
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema
  }))
}

const refusals = {
  400: "A field is not valid: `field` names it.",
  403: "The key is missing or wrong, or the request comes from elsewhere.",
  404: "There is no such thing.",
  413: "The body is too large."
} as const

const statusesOf = ({ body, params, query }: Endpoint): ReadonlyArray<keyof typeof refusals> => [
  ...(body ?? params ?? query) === undefined ? [] : [400 as const],
  403,
  ...params === undefined ? [] : [404 as const],
  ...body === undefined ? [] : [413 as const]
]

const operation = (converter: Converter, endpoint: Endpoint): Json => {
  const { body, contentType, description, name, params, query, success, summary } = endpoint
  const all = [...parameters(converter, "path", params), ...parameters(converter, "query", query)]
  return {
    operationId: name,
    summary,
    description,
    ...(all.length > 0 && { parameters: all }),
    ...(body !== undefined && {
      requestBody: {
        required: !Schema.is(body)({}),
        content: { "application/json": { schema: converter.convert(body, "request") } }
      }
    }),
    responses: {
      200: { description: "Done.", content: { [contentType]: { schema: converter.convert(success, "response") } } },
      ...Object.fromEntries(
        statusesOf(endpoint).map((status) => [status, { $ref: `#/components/responses/${status}` }])
      )
    }
  }
}

/** Makes the document for a tenant at this origin. */
export const make = (origin: string): JsonObject => {
  const converter = makeConverter()
  const paths: Record<string, Record<string, Json>> = {}
  for (const endpoint of endpoints) {
    const operations = paths[endpoint.path.replace(/:([^/]+)/g, "{$1}")] ??= {}
    operations[endpoint.method.toLowerCase()] = operation(converter, endpoint)
  }
  const refusal = converter.convert(Refusal, "response")
  return {
    openapi: "3.1.0",
    info: {
      title: Context.unsafeGet(api.annotations, OpenApi.Title),
      version: Context.unsafeGet(api.annotations, OpenApi.Version),
      license: { name: "MIT", identifier: "MIT" },
      description: Context.unsafeGet(api.annotations, OpenApi.Description)
    },
    servers: [{ url: origin }],
    security: [{ key: [] }],
    paths,
    components: {
      schemas: converter.definitions,
      responses: Object.fromEntries(
        Object.entries(refusals).map(([status, description]) => [
          status,
          { description, content: { "application/json": { schema: refusal } } }
        ])
      ),
      securitySchemes: { key: { type: "apiKey", in: "header", name: keyHeader } }
    }
  }
}

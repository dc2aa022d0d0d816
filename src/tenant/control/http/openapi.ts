/** The OpenAPI 3.1 document of the control interface, made from its declarations. */
import * as Schema from "effect/Schema"
import type { Fields } from "../../../Endpoint.js"
import { version } from "../../../internal/http/requestEncoder.js"
import { type Converter, type Json, type JsonObject, make as makeConverter } from "../../docs/jsonSchema.js"
import { addresses, keyHeader } from "../messages.js"
import { type Declaration, declarations } from "./declarations.js"
import { Refusal } from "./schemas.js"

const parameters = ({ convert }: Converter, place: "path" | "query", fields: Fields = {}): ReadonlyArray<Json> => {
  // Sound: this is the JSON Schema of a struct without an identifier.
  const { properties = {}, required = [] } = convert(Schema.Struct(fields), "request") as {
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

const statusesOf = ({ body, params, query }: Declaration): ReadonlyArray<keyof typeof refusals> => [
  ...(body ?? params ?? query) === undefined ? [] : [400 as const],
  403,
  ...params === undefined ? [] : [404 as const],
  ...body === undefined ? [] : [413 as const]
]

const operation = (converter: Converter, name: string, declaration: Declaration): Json => {
  const { body, contentType = "application/json", description, params, query, success, summary } = declaration
  const all = [...parameters(converter, "path", params), ...parameters(converter, "query", query)]
  const schema = success === undefined ? { type: "object" } : converter.convert(success, "response")
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
      200: { description: "Done.", content: { [contentType]: { schema } } },
      ...Object.fromEntries(
        statusesOf(declaration).map((status) => [status, { $ref: `#/components/responses/${status}` }])
      )
    }
  }
}

/** Makes the document for a tenant at this origin. */
export const make = (origin: string): JsonObject => {
  const converter = makeConverter()
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, declaration] of Object.entries<Declaration>(declarations)) {
    const { method, path } = addresses[name as keyof typeof addresses] // sound: both have the same names
    const operations = paths[path.replace(/:([^/]+)/g, "{$1}")] ??= {}
    operations[method.toLowerCase()] = operation(converter, name, declaration)
  }
  const refusal = converter.convert(Refusal, "response")
  return {
    openapi: "3.1.0",
    info: {
      title: "Control interface of an embedded tenant",
      version,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Looks at a tenant and acts on it, for tests in any language. On this machine only. Each request needs the key that the " +
        `tenant prints when it starts, in the header \`${keyHeader}\`.`
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

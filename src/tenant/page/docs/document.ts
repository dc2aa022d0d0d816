/** Reads the tenant's OpenAPI document into operations. */
import type { Json } from "../ui/json.js"

/** A JSON Schema, as far as the page shows it. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<Json>
  readonly const?: Json
  readonly default?: Json
  readonly example?: Json
  readonly examples?: ReadonlyArray<Json>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly pattern?: string
}

interface Reference {
  readonly $ref?: string
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
  readonly example?: Json
}

interface Media {
  readonly schema?: Schema
  readonly example?: Json
}

interface Header {
  readonly description?: string
  readonly schema?: Schema
}

export interface Response {
  readonly description?: string
  readonly headers?: Readonly<Record<string, Header & Reference>>
  readonly content?: Readonly<Record<string, Media>>
}

interface RequestBody {
  readonly description?: string
  readonly required?: boolean
  readonly content?: Readonly<Record<string, Media>>
}

interface PathItem {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly security?: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly parameters?: ReadonlyArray<Parameter & Reference>
  readonly requestBody?: RequestBody & Reference
  readonly responses?: Readonly<Record<string, Response & Reference>>
}

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathItem>>>>
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** An operation with all references followed, except those within schemas. */
export interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly scopes: ReadonlyArray<string>
  readonly needsToken: boolean
  readonly parameters: ReadonlyArray<Parameter>
  readonly body: RequestBody | undefined
  readonly responses: ReadonlyArray<readonly [status: string, response: Response]>
}

/** Follows a reference within the document. */
export const follow = <A extends Reference>(document: Document, value: A): A => {
  if (value.$ref === undefined) return value
  const names = value.$ref.replace(/^#\//, "").split("/").map((name) =>
    name.replaceAll("~1", "/").replaceAll("~0", "~")
  )
  let found: unknown = document
  for (const name of names) {
    // Sound: a reference leads through objects; an absent field becomes undefined.
    found = (found as Readonly<Record<string, unknown>> | undefined)?.[name]
  }
  const { $ref: _, ...beside } = value
  return { ...found as A, ...beside } // sound: a reference stands for a value of the same kind
}

const methods = ["get", "post", "put", "patch", "delete"]

export const operationsOf = (document: Document): ReadonlyArray<Operation> =>
  Object.entries(document.paths).flatMap(([path, items]) =>
    Object.entries(items).filter(([method]) => methods.includes(method)).map(([method, item]): Operation => {
      const {
        description = "",
        operationId = `${method}-${path}`,
        parameters = [],
        requestBody,
        responses = {},
        security = []
      } = item
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        summary: item.summary ?? operationId,
        description,
        scopes: [...new Set(security.flatMap((scheme) => Object.values(scheme).flat()))],
        needsToken: security.length > 0,
        parameters: parameters.map((parameter) => follow(document, parameter)),
        body: requestBody && follow(document, requestBody),
        responses: Object.entries(responses).map(([status, response]) => [status, follow(document, response)] as const)
      }
    })
  )

/** What the tenant serves as an OpenAPI 3.1 document, made of the declarations by which it serves it. */
import * as Array from "effect/Array"
import * as JSONSchema from "effect/JSONSchema"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Struct from "effect/Struct"
import type { Any, ContentType, Fields } from "../../Endpoint.js"
import { version } from "../../internal/http/version.js"
import type { Served } from "../api/routes.js"
import { prefix, served, tokenPaths } from "../api/routes.js"
import { Failure, OAuthFailure, phraseOf } from "../server/response.js"
import { Token, TokenRequest } from "../server/tokens.js"
import { examples } from "./examples.js"

/** A value of JSON. */
export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }
/** An object of JSON. */
export type Members = { readonly [name: string]: Json }

/** As a form, nested members are written in brackets. */
const contentTypes: ReadonlyArray<ContentType> = ["application/json", "application/x-www-form-urlencoded"]

const definitions: Record<string, JSONSchema.JsonSchema7> = {}

/** Without what only names a type that JSON Schema has no word for, and without empty lists, which say nothing. */
const plain = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(plain)
  if (!Predicate.isRecord(value)) return value as Json // sound: what is made for JSON
  const members = Object.entries("$id" in value ? Struct.omit(value, "$id", "title") : value)
  return Object.fromEntries(
    members.filter(([, member]) => JSON.stringify(member) !== "[]").map(([name, member]) => [name, plain(member)])
  )
}

/** The JSON Schema of a type; what has an identifier is defined once, and named here. Objects of answers may have more members. */
const schemaOf = (ast: AST.AST, objects: "closed" | "open"): Members =>
  plain(JSONSchema.fromAST(defined(AST.typeAST(ast)), {
    definitions,
    definitionPath: "#/components/schemas/",
    target: "openApi3.1",
    additionalPropertiesStrategy: objects === "open" ? "allow" : "strict"
  })) as Members // sound: every schema that is made is an object

/** The type without `undefined`. */
const defined = (ast: AST.AST): AST.AST =>
  AST.isUnion(ast) ? AST.Union.make(ast.types.filter((type) => !AST.isUndefinedKeyword(type)), ast.annotations) : ast

const capital = (name: string): string => name.replace(/./, (letter) => letter.toUpperCase())

/** `createUsersExport` as `Create users export`. */
const words = (name: string): string => capital(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))

/** The example of an operation, as far as it travels in this part. */
const exampleOf = (endpoint: Any, fields: Fields): Members => {
  const example = Record.get<string, object>(examples, endpoint.name)
  const members = example._tag === "Some" ? Object.entries(example.value) : []
  return Object.fromEntries(members.filter(([name]) => name in fields))
}

const parameters = (endpoint: Any, place: "path" | "query"): ReadonlyArray<Json> => {
  const fields = (place === "path" ? endpoint.params : endpoint.query) ?? {}
  const example = exampleOf(endpoint, fields)
  const least = place === "path" ? { minLength: 1 } : {} // an empty segment would be another path
  return AST.getPropertySignatures(AST.typeAST(Schema.Struct(fields).ast)).map(({ isOptional, name, type }) => {
    const schema: Members = { ...least, ...schemaOf(type, "closed") }
    const value = example[String(name)]
    return {
      name: String(name),
      in: place,
      required: !isOptional,
      schema,
      ...(value !== undefined && { example: value })
    }
  })
}

const content = (types: ReadonlyArray<string>, media: Members): Json =>
  Object.fromEntries(types.map((type) => [type, media]))

const json = (schema: Schema.Schema.AnyNoContext | undefined): Json =>
  content(["application/json"], schema === undefined ? {} : { schema: schemaOf(schema.ast, "open") })

const requestBody = (endpoint: Any, payload: Fields): Json => {
  const { minProperties } = endpoint
  const schema = Schema.Struct(payload).annotations({
    identifier: `${capital(endpoint.name)}Body`,
    ...(minProperties !== undefined && { jsonSchema: { minProperties } })
  })
  return {
    required: true,
    description: "As a form, nested members are written in brackets: `fields[0][name]=email`.",
    content: content(contentTypes, { schema: schemaOf(schema.ast, "closed"), example: exampleOf(endpoint, payload) })
  }
}

const integer = (description: string, example: number): Json => ({
  description,
  schema: { type: "integer" },
  example
})

/** What answers say of the limit (contract: Limits). */
const headers: Members = {
  "X-RateLimit-Limit": integer("How many calls the bucket holds.", 50),
  "X-RateLimit-Remaining": integer("How many calls are left in it.", 49),
  "X-RateLimit-Reset": integer("When it is full again: seconds since 1970 on the service's clock.", 1767225600),
  "Retry-After": integer("How many seconds to wait before the next call.", 1)
}

const headersOf = (status: number): Json =>
  Object.fromEntries(
    Object.keys(headers)
      .filter((name) => name !== "Retry-After" || status === 429)
      .map((name) => [name, { $ref: `#/components/headers/${name}` }])
  )

const failure = (status: number, description: string): Json => ({
  description,
  headers: headersOf(status),
  content: json(Failure)
})

/** A failure with a status, or any other. */
const failureAt = (status: number | "default"): Json => ({ $ref: `#/components/responses/${status}` })

/** As members of an object they are there once, and in their order. */
const statusesOf = ({ error }: Any): ReadonlyArray<number> => error.map(({ status }) => status)

/** All statuses that some operation declares. */
const failures = (): Members => ({
  ...Object.fromEntries(
    served.flatMap(({ endpoint }) => statusesOf(endpoint)).map((status) => [status, failure(status, phraseOf(status))])
  ),
  default: failure(0, "Any other failure")
})

const success = ({ endpoint, handler: { status } }: Served): Json => ({
  description: phraseOf(status),
  headers: headersOf(status),
  ...(status !== 204 && { content: json(endpoint.success) })
})

const describe = ({ endpoint: { idempotent, scope }, handler: { bucket, global } }: Served): string =>
  [
    `Needs the scope \`${scope}\`${global === true ? " and a global client" : ""}.`,
    idempotent ? "Carrying it out twice is harmless." : "Carried out twice, it has its effect twice.",
    bucket === undefined ? "" : "It has a rate limit of its own."
  ].filter((sentence) => sentence !== "").join(" ")

/** Both schemes are accepted by every operation (contract: Authentication). */
const operation = (one: Served): Json => {
  const { endpoint, handler } = one
  return {
    operationId: endpoint.name,
    summary: words(endpoint.name),
    description: describe(one),
    security: [{ clientCredentials: [endpoint.scope] }, { bearer: [endpoint.scope] }],
    parameters: [...parameters(endpoint, "path"), ...parameters(endpoint, "query")],
    ...(endpoint.payload !== undefined && { requestBody: requestBody(endpoint, endpoint.payload) }),
    responses: {
      [handler.status]: success(one),
      ...Object.fromEntries(statusesOf(endpoint).map((status) => [status, failureAt(status)])),
      default: failureAt("default")
    }
  }
}

const token = (id: string): Json => {
  const answer = (status: number, schema: Schema.Schema.AnyNoContext): Json => ({
    description: phraseOf(status),
    content: json(schema)
  })
  return {
    operationId: id,
    summary: "Get a token",
    description: "OAuth 2.0 client credentials.",
    security: [],
    requestBody: { required: true, content: content(contentTypes, { schema: schemaOf(TokenRequest.ast, "open") }) },
    responses: {
      200: answer(200, Token),
      ...Object.fromEntries([400, 401, 403].map((status) => [status, answer(status, OAuthFailure)]))
    }
  }
}

const [tokenUrl, practicalTokenUrl] = tokenPaths

/** Paths of the same name are one, with a member for each method. */
const paths = (): Members => {
  const all: Record<string, Members> = {}
  for (const one of served) {
    const path = `${prefix}${one.endpoint.path.replace(/:([^/]+)/g, "{$1}")}`
    all[path] = { ...all[path], [one.endpoint.method.toLowerCase()]: operation(one) }
  }
  return {
    ...all,
    [tokenUrl]: { post: token("token") },
    [practicalTokenUrl]: { post: token("tokenWithoutSlash") }
  }
}

const make = (): Members => {
  const [described, responses] = [paths(), failures()] // they fill the definitions
  return {
    openapi: "3.1.0",
    info: {
      title: "Embedded tenant of an identity service",
      version,
      description:
        "The operations of the management interface and the token endpoint, as the embedded tenant serves them."
    },
    paths: described,
    components: {
      schemas: plain(definitions),
      responses,
      headers,
      securitySchemes: {
        clientCredentials: {
          type: "oauth2",
          flows: {
            clientCredentials: {
              tokenUrl,
              scopes: Object.fromEntries(served.map(({ endpoint }) => [endpoint.scope, words(endpoint.name)]))
            }
          }
        },
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" }
      }
    }
  }
}

/** The document. */
export const openapi: Members = make()

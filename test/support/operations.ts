/** The operations as data, and for each a sample input with every field, made from its declaration. */
import { type Effect, FastCheck, Schema } from "effect"
import type * as Endpoint from "../../src/Endpoint.js"
import type { ErrorClass } from "../../src/Errors.js"
import type { IdentityClient } from "../../src/IdentityClient.js"
import { fromSchema, isUndefined, type SchemaNode } from "../../src/internal/schema/schemaTree.js"
import * as Operations from "../../src/operations/index.js"
import { arbitraryOf } from "./schemaArbitrary.js"

/** Any operation, without its types. */
export interface Subject {
  (input: never): Effect.Effect<unknown, unknown, IdentityClient>
  readonly endpoint: Endpoint.Any
}

const isOperation = (value: unknown): value is Subject => typeof value === "function" && "endpoint" in value

/** Every operation of the library. */
export const operations: ReadonlyArray<Subject> = (Object.values(Operations) as ReadonlyArray<unknown>).filter(
  isOperation
)

const ofContract = [
  "createUsersExport",
  "updateTokenExchangeProfile",
  "listActionVersions",
  "redeliverEvent",
  "deleteEventStream"
]

/**
 * The operations of the contract. They have almost every kind of input and of result; the others run through the same code. Long
 * tests try these, and perhaps `otherOperations`.
 */
export const contractOperations: ReadonlyArray<Subject> = operations.filter(({ endpoint }) =>
  ofContract.includes(endpoint.name)
)

/** Operations of other shapes: a response that is a list, one object by its id, and a POST with a filter. */
export const otherOperations: ReadonlyArray<Subject> = operations.filter(({ endpoint }) =>
  ["listDeliveries", "getJob", "redeliverEvents"].includes(endpoint.name)
)

export const contentTypes: ReadonlyArray<Endpoint.ContentType> = [
  "application/json",
  "application/x-www-form-urlencoded"
]

export type FieldValues = Readonly<Record<string, unknown>>

/** The schema with every optional field required. */
const complete = (node: SchemaNode): Schema.Schema.AnyNoContext => {
  switch (node._tag) {
    case "Union":
      return Schema.Union(...node.types.filter((type) => !isUndefined(type)).map(complete))
    case "Array":
      return Schema.Array(complete(node.rest[0]!))
    case "Struct":
      return Schema.Struct(Object.fromEntries(node.fields.map(({ name, type }) => [name, complete(type)])))
    default:
      return node.schema
  }
}

/** Every string in a value, at any depth. */
export const stringsOf = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ?
    [value]
    : typeof value === "object" && value !== null ?
    Object.values(value).flatMap(stringsOf)
    : []

const isWhole = (value: unknown): boolean =>
  Array.isArray(value) ?
    value.length > 0 && value.every(isWhole)
    : typeof value === "object" && value !== null ?
    Object.values(value).every(isWhole)
    : typeof value !== "string" || ["csv", "json", "failed"].includes(value) ||
      (value.length >= 8 && !/^[A-Za-z_]*$/.test(value))

const samples = new Map<Subject, FieldValues>()

const findSample = ({ endpoint }: Subject): FieldValues => {
  const schema = complete(fromSchema(endpoint.input)) as Schema.Schema<FieldValues>
  const found = FastCheck.sample(arbitraryOf(schema).filter(isWhole), { seed: 7, numRuns: 1 })[0]
  if (found === undefined) throw new Error(`no sample of ${endpoint.name}`)
  return found
}

/** An input with every field, without empty lists, and with strings long enough not to occur in a text by chance. */
export const sample = (operation: Subject): FieldValues => {
  const known = samples.get(operation) ?? findSample(operation)
  samples.set(operation, known)
  return known
}

/** The fields of an input that belong to a part of the request. */
export const part = (input: FieldValues, fields: Endpoint.Fields | undefined): FieldValues =>
  Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(fields ?? {}, name)))

/** Tells that an input with valid fields can be sent: a path expresses its parameters, it has enough fields, and fits together. */
export const isSendable = ({ check, minProperties = 0, params, payload }: Endpoint.Any, input: FieldValues): boolean =>
  Object.values(part(input, params)).every((value) => !["", ".", ".."].includes(String(value))) &&
  Object.values(part(input, payload)).filter((value) => value !== undefined).length >= minProperties &&
  (check?.(input as never) ?? []).length === 0

/** Whether a caller may leave the field out. */
export const isOptional = (field: Endpoint.Fields[string]): boolean => {
  const struct = fromSchema(Schema.Struct({ field }) as unknown as Schema.Schema.AnyNoContext)
  return struct._tag === "Struct" && struct.fields[0]?.isOptional === true
}

/** The fields of all parts of the request. */
export const fieldsOf = ({ endpoint }: Subject): Endpoint.Fields => ({
  ...endpoint.params,
  ...endpoint.query,
  ...endpoint.payload
})

/** The classes that an operation declares for a status. */
export const declaredFor = ({ endpoint }: Subject, status: number): ReadonlyArray<ErrorClass> =>
  endpoint.error.filter((error) => error.status === status)

/** A value without the fields that are `undefined`, at any depth. */
export const withoutUndefined = (value: unknown): unknown =>
  Array.isArray(value) ?
    value.map(withoutUndefined)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).flatMap(([name, value]) => value === undefined ? [] : [[name, withoutUndefined(value)]])
    )
    : value

/** A value with every scalar as text, as in a form. */
export const asText = (value: unknown): unknown =>
  Array.isArray(value) ?
    value.map(asText)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, value]) => [name, asText(value)]))
    : String(value)

/** Whether a form can express a value: neither null nor empty objects and lists. */
export const isFormable = (value: unknown): boolean =>
  typeof value !== "object" ||
  (value !== null && Object.keys(value).length > 0 && Object.values(value).every(isFormable))

/** Reads bracket notation such as `a[0][b]=c`: keys that count from 0 make a list. */
export const readForm = (form: string): unknown => {
  const root: Record<string, unknown> = {}
  for (const [name = "", value = ""] of form.split("&").filter((pair) => pair !== "").map((pair) => pair.split("="))) {
    const keys = decodeURIComponent(name).split("[").map((key, index) => index === 0 ? key : key.slice(0, -1))
    const last = keys.pop() ?? ""
    const target = keys.reduce((at, key) => (at[key] ??= {}) as Record<string, unknown>, root)
    target[last] = decodeURIComponent(value)
  }
  const lists = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value
    const isList = Object.keys(value).every((key, index) => key === String(index))
    const entries = Object.entries(value).map(([key, value]) => [key, lists(value)] as const)
    return isList ? entries.map(([, value]) => value) : Object.fromEntries(entries)
  }
  return Object.fromEntries(Object.entries(root).map(([name, value]) => [name, lists(value)]))
}

/** The operations as data, and for each an input that sets every member there is, made from its declaration alone. */
import { Arbitrary, type Effect, FastCheck, type Schema, SchemaAST as AST } from "effect"
import type * as Endpoint from "../../src/Endpoint.js"
import type { ErrorClass } from "../../src/Errors.js"
import type { IdentityClient } from "../../src/IdentityClient.js"
import * as Operations from "../../src/operations/index.js"

/** Any operation, its types forgotten. */
export interface Subject {
  (input: never): Effect.Effect<unknown, unknown, IdentityClient>
  readonly endpoint: Endpoint.Any
}

const isOperation = (value: unknown): value is Subject => typeof value === "function" && "endpoint" in value

/** Every operation of the library. */
export const operations: ReadonlyArray<Subject> = (Object.values(Operations) as ReadonlyArray<unknown>).filter(
  isOperation
)

export const contentTypes: ReadonlyArray<Endpoint.ContentType> = [
  "application/json",
  "application/x-www-form-urlencoded"
]

export type Members = Readonly<Record<string, unknown>>

/** The same schema with every optional member set. */
const complete = (ast: AST.AST): AST.AST => {
  switch (ast._tag) {
    case "Union":
      return AST.Union.make(ast.types.filter((type) => !AST.isUndefinedKeyword(type)).map(complete))
    case "TupleType":
      return new AST.TupleType(ast.elements, ast.rest.map(({ type }) => new AST.Type(complete(type))), ast.isReadonly)
    case "TypeLiteral":
      return new AST.TypeLiteral(
        ast.propertySignatures.map(({ isReadonly, name, type }) =>
          new AST.PropertySignature(name, complete(type), false, isReadonly)
        ),
        ast.indexSignatures
      )
    default:
      return ast
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
    : typeof value !== "string" || ["csv", "json"].includes(value) || (value.length >= 8 && !/^[A-Za-z_]*$/.test(value))

const samples = new Map<Subject, Members>()

const findSample = ({ endpoint }: Subject): Members => {
  const schema = { ...endpoint.input, ast: complete(endpoint.input.ast) } as unknown as Schema.Schema<Members>
  const found = FastCheck.sample(Arbitrary.make(schema).filter(isWhole), { seed: 7, numRuns: 1 })[0]
  if (found === undefined) throw new Error(`no sample of ${endpoint.name}`)
  return found
}

/** An input with every member set, no list empty, and no string so short that it could stand in a text by chance. */
export const sample = (operation: Subject): Members => {
  const known = samples.get(operation) ?? findSample(operation)
  samples.set(operation, known)
  return known
}

/** Those members of an input that travel in this part. */
export const part = (input: Members, fields: Endpoint.Fields | undefined): Members =>
  Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(fields ?? {}, name)))

/** Whether a member need not be set. */
export const isOptional = (field: Schema.Struct.Field): boolean =>
  field.ast._tag === "PropertySignatureDeclaration"
    ? field.ast.isOptional
    : field.ast._tag === "PropertySignatureTransformation"

/** The fields of all parts. */
export const fieldsOf = ({ endpoint }: Subject): Endpoint.Fields => ({
  ...endpoint.params,
  ...endpoint.query,
  ...endpoint.payload
})

/** The classes that an operation declares for a status. */
export const declaredFor = ({ endpoint }: Subject, status: number): ReadonlyArray<ErrorClass> =>
  endpoint.error.filter((error) => error.status === status)

/** A value without the members that are `undefined`, at any depth. */
export const set = (value: unknown): unknown =>
  Array.isArray(value) ?
    value.map(set)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).flatMap(([name, value]) => value === undefined ? [] : [[name, set(value)]])
    )
    : value

/** A value with every scalar as the text that a form holds. */
export const asText = (value: unknown): unknown =>
  Array.isArray(value) ?
    value.map(asText)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, value]) => [name, asText(value)]))
    : String(value)

/** Whether a form can express it: nothing in it is null or empty. */
export const isFormable = (value: unknown): boolean =>
  typeof value !== "object" ||
  (value !== null && Object.keys(value).length > 0 && Object.values(value).every(isFormable))

/** Reads `a[0][b]=c` back, by the notation's definition: keys that count from 0 make a list. */
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

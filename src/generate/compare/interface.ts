/** The interface that generated files offer, as data that is kept beside them: the next generation is compared with it. */
import * as Either from "effect/Either"
import type { Direction, Operation } from "../model/operation.js"
import type { Shape } from "../model/shape.js"
import type { Components } from "../print/components.js"
import { fieldsOf, loosen } from "../print/schema.js"
import { isObject } from "../read/json.js"

/** A field of a caller's input. */
export interface InputField {
  readonly in: "path" | "query" | "header" | "body"
  readonly required: boolean
  readonly shape: Shape
}

export interface OperationFacts {
  readonly method: string
  readonly path: string
  readonly input: { readonly [name: string]: InputField }
  readonly success: { readonly shape: Shape; readonly isOptional: boolean; readonly isStream: boolean } | null
  readonly statuses: ReadonlyArray<number>
  readonly scopes: ReadonlyArray<string>
  readonly idempotent: boolean
  readonly paging: string | null
}

export interface Interface {
  readonly document: { readonly title: string; readonly version: string }
  readonly operations: { readonly [name: string]: OperationFacts }
  /** The named schemas; references in shapes are these names. */
  readonly schemas: { readonly [name: string]: Shape }
}

const sorted = <A>(entries: ReadonlyArray<readonly [name: string, value: A]>): { readonly [name: string]: A } =>
  Object.fromEntries([...entries].sort(([a], [b]) => a < b ? -1 : 1))

/** A shape as generated files express it, with the names of types as references and without comments. */
const expressed = (components: Components, shape: Shape, direction: Direction): Shape => {
  const inner = (shape: Shape) => expressed(components, shape, direction)
  const target = direction === "response" ? loosen(shape) : shape
  switch (target._tag) {
    case "Ref": {
      const variant = components.find(target.name, direction)
      return variant === undefined ? inner(components.shape(target.name)) : { _tag: "Ref", name: variant.name }
    }
    case "Array":
      return { ...target, items: inner(target.items) }
    case "Tuple":
      return { ...target, elements: target.elements.map(inner), rest: target.rest && inner(target.rest) }
    case "Union":
      return { ...target, branches: target.branches.map(inner) }
    case "Object": {
      const fields = fieldsOf(target, direction)
      return {
        ...target,
        fields: fields.map(({ name, shape }) => ({
          name,
          shape: inner(shape),
          readOnly: false,
          writeOnly: false,
          deprecated: false
        })),
        required: fields.filter(({ required }) => required).map(({ name }) => name),
        additional: typeof target.additional === "string" ? target.additional : inner(target.additional)
      }
    }
    default:
      return target
  }
}

const factsOf = (components: Components, operation: Operation): OperationFacts => {
  const { body, headers, idempotent, method, paging, params, path, query, scopes, statuses, success } = operation
  const request = (shape: Shape) => expressed(components, shape, "request")
  const fields = (place: InputField["in"], list: typeof params) =>
    list.map(({ name, required, shape }) => [name, { in: place, required, shape: request(shape) }] as const)
  const bodyFields = body === undefined
    ? []
    : body._tag === "Whole"
    ? [["body", { in: "body", required: !body.isOptional, shape: request(body.shape) }] as const]
    : fieldsOf(body.shape, "request").map(({ name, required, shape }) =>
      [name, { in: "body", required, shape: request(shape) }] as const
    )
  return {
    method,
    path,
    input: sorted([...fields("path", params), ...fields("query", query), ...fields("header", headers), ...bodyFields]),
    success: success === undefined
      ? null
      : { ...success, shape: expressed(components, components.close(success.shape), "response") },
    statuses,
    scopes,
    idempotent,
    paging: paging === undefined ? null : [paging.kind, ...paging.items === undefined ? [] : [paging.items]].join(" ")
  }
}

/** The interface that the files of these operations offer. */
export const interfaceOf = (
  document: Interface["document"],
  components: Components,
  operations: ReadonlyArray<Operation>
): Interface => ({
  document,
  operations: sorted(operations.map((operation) => [operation.name, factsOf(components, operation)])),
  schemas: sorted(
    operations.flatMap((operation) => components.usedBy(operation)).map((
      { direction, name, shape }
    ) => [name, expressed(components, shape, direction)])
  )
})

const section = (name: string, entries: { readonly [name: string]: unknown }): string => {
  const lines = Object.entries(entries).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return lines.length === 0 ? `  "${name}": {}` : `  "${name}": {\n${lines.join(",\n")}\n  }`
}

/** Writes an interface as JSON with a line for each operation and each schema. */
export const stringify = ({ document, operations, schemas }: Interface): string =>
  `{\n  "document": ${JSON.stringify(document)},\n${section("operations", operations)},\n${
    section("schemas", schemas)
  }\n}\n`

const isFacts = (value: unknown): boolean =>
  isObject(value) && isObject(value["input"]) && Array.isArray(value["statuses"]) && Array.isArray(value["scopes"])

const isShape = (value: unknown): boolean => isObject(value) && typeof value["_tag"] === "string"

/** Tells whether a value has the fields of an interface; what is in them only a report depends on. */
const isInterface = (value: unknown): value is Interface =>
  isObject(value) && isObject(value["document"]) && isObject(value["operations"]) && isObject(value["schemas"]) &&
  Object.values(value["operations"]).every(isFacts) && Object.values(value["schemas"]).every(isShape)

/** Reads what `stringify` wrote; `undefined` if the text is something else. */
export const parse = (text: string): Interface | undefined => {
  const value = Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))
  return isInterface(value) ? value : undefined
}

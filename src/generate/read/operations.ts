/** Reads the operations of a document into the model. */
import * as Either from "effect/Either"
import { isIdempotent } from "../model/idempotency.js"
import { freeName, operationNames } from "../model/names.js"
import type { Method, Operation, Stage } from "../model/operation.js"
import { stages } from "../model/operation.js"
import { at, fail, type SpecError } from "../model/specError.js"
import { attempt } from "./attempt.js"
import { readBody } from "./body.js"
import { withOwnNames } from "./collisions.js"
import * as Json from "./json.js"
import { readPaging } from "./paging.js"
import { readParameters } from "./parameters.js"
import type { SchemaReader } from "./schemaReader.js"
import { readSuccess } from "./success.js"

const methods: ReadonlyArray<Method> = ["GET", "POST", "PUT", "PATCH", "DELETE"]

/** The path at which the base URL of a client ends. */
const prefix = "/api/v2"

/** The statuses with a class of their own. 429 is a failure of every operation. */
const classes = [400, 401, 402, 403, 404, 409, 410, 412, 413, 429, 500, 503]

/** An operation, or the reason that it could not be read. */
export type Read =
  & {
    readonly name: string
    readonly id: string | undefined
    readonly group: ReadonlyArray<string>
    readonly stage: Stage
  }
  & (
    | { readonly _tag: "Operation"; readonly operation: Operation }
    | { readonly _tag: "Unreadable"; readonly error: SpecError }
  )

interface Place {
  readonly document: Json.JsonObject
  readonly reader: SchemaReader
  readonly path: string
  readonly item: Json.JsonObject
  readonly operation: Json.JsonObject
  readonly method: Method
  readonly pointer: string
  readonly itemPointer: string
}

const groupOf = (operation: Json.JsonObject): ReadonlyArray<string> => {
  const group = operation["x-operation-group"]
  return Array.isArray(group) ? group.map(String) : typeof group === "string" ? group.split(".") : []
}

const stageOf = (operation: Json.JsonObject): Stage => {
  const stage = Json.string(operation["x-release-lifecycle"])?.toLowerCase()
  return stages.find((name) => name === stage) ?? "ga"
}

/** The scopes of all ways to authenticate: any of them will do. */
const scopesOf = ({ document, operation, pointer }: Place): ReadonlyArray<string> => {
  const [security, place] = operation["security"] === undefined
    ? [document["security"] ?? [], "#/security"]
    : [operation["security"], at(pointer, "security")]
  const scopes = Json.array(security, place).flatMap((requirement, index) =>
    Object.entries(Json.object(requirement, at(place, index))).flatMap(([name, scopes]) =>
      Json.array(scopes, at(place, index, name)).map(String)
    )
  )
  return [...new Set(scopes)]
}

/** Failures that come whether the document names them or not: an invalid request, a resource that does not exist, too many calls. */
const alwaysOf = (path: string): ReadonlyArray<number> => [400, ...path.includes("{") ? [404] : [], 429]

const statusesOf = ({ operation, path, pointer, reader }: Place): ReadonlyArray<number> => {
  const place = at(pointer, "responses")
  const statuses = Object.keys(Json.objectOrEmpty(operation["responses"], place)).map(Number)
    .filter((status) => status >= 300)
  for (const status of statuses.filter((status) => !classes.includes(status))) {
    reader.note(at(place, status), `no class of failures has the status ${status}, so it is an UnexpectedResponse`)
  }
  return [...new Set([...statuses.filter((status) => classes.includes(status)), ...alwaysOf(path)])].sort((a, b) =>
    a - b
  )
}

const readOperation = (place: Place, name: string, base: string): Operation => {
  const { item, itemPointer, method, operation, path, pointer, reader } = place
  reader.check(pointer)
  reader.check(at(itemPointer, "parameters"))
  const success = readSuccess(reader, operation["responses"], at(pointer, "responses"))
  const parameters = readParameters(reader, path, [
    [item["parameters"], at(itemPointer, "parameters")],
    [operation["parameters"], at(pointer, "parameters")]
  ])
  const group = groupOf(operation)
  const sdkMethod = Json.string(operation["x-operation-name"])
  const relative = path.slice(base.length)
  return withOwnNames(reader, {
    name,
    pointer,
    method,
    path: relative,
    group,
    sdkName: sdkMethod === undefined || group.length === 0 ? undefined : [...group, sdkMethod].join("."),
    stage: stageOf(operation),
    summary: Json.string(operation["summary"]) ?? Json.string(item["summary"]),
    description: Json.string(operation["description"]) ?? Json.string(item["description"]),
    deprecated: operation["deprecated"] === true,
    ...parameters,
    body: readBody(reader, operation["requestBody"], at(pointer, "requestBody"), method === "PATCH"),
    success,
    paging: readPaging(reader, path, parameters.query, success),
    scopes: scopesOf(place),
    statuses: statusesOf(place),
    idempotent: isIdempotent(method, relative)
  })
}

/** The name of an operation and, if another operation has the name that it would have, that name with the other's place. */
interface Named {
  readonly name: string
  readonly taken?: readonly [name: string, pointer: string]
}

/**
 * Names operations: each gets the first of its names that no other has. Names that the document gives come before those of routes, so
 * that an operation without an id never takes the name of another.
 */
const nameAll = (places: ReadonlyArray<Place>): ReadonlyMap<Place, Named> => {
  const pointers = new Map<string, string>()
  const isTaken = (key: string) => pointers.has(key)
  const nameOf = (place: Place): readonly [Place, Named] => {
    const { method, operation, path, pointer } = place
    const names = operationNames({
      group: groupOf(operation),
      method: Json.string(operation["x-operation-name"]),
      id: Json.string(operation["operationId"]),
      route: `${method} ${path}`
    })
    const name = names.find((name) => !isTaken(name.toLowerCase())) ?? freeName(names.at(-1) ?? "operation", isTaken)
    const other = pointers.get(names[0]?.toLowerCase() ?? "")
    pointers.set(name.toLowerCase(), pointer)
    return [place, other === undefined || names[0] === undefined ? { name } : { name, taken: [names[0], other] }]
  }
  const hasId = ({ operation }: Place) =>
    (Json.string(operation["operationId"]) ?? Json.string(operation["x-operation-name"])) !== undefined
  return new Map([...places.filter(hasId), ...places.filter((place) => !hasId(place))].map(nameOf))
}

const readAt = (name: string, place: Place, base: string): Read => {
  const { operation } = place
  const group = groupOf(operation)
  const tags = Array.isArray(operation["tags"]) ? operation["tags"].map(String) : []
  const common = {
    name,
    id: Json.string(operation["operationId"]),
    group: group.length > 0 ? group : tags.slice(0, 1),
    stage: stageOf(operation)
  }
  const read = attempt(() => readOperation(place, name, base))
  return Either.match(read, {
    onLeft: (error) => ({ ...common, _tag: "Unreadable" as const, error }),
    onRight: (operation) => ({ ...common, _tag: "Operation" as const, operation })
  })
}

/** The operations of a path. */
const placesOf = (
  document: Json.JsonObject,
  reader: SchemaReader,
  path: string,
  value: unknown
): ReadonlyArray<Place> => {
  const [item, itemPointer] = reader.resolve(value, at("#/paths", path))
  return methods.filter((method) => item[method.toLowerCase()] !== undefined).map((method) => {
    const pointer = at(itemPointer, method.toLowerCase())
    const operation = item[method.toLowerCase()]
    // What is no object is among the faults of the document.
    return {
      document,
      reader,
      path,
      item,
      operation: Json.isObject(operation) ? operation : {},
      method,
      pointer,
      itemPointer
    }
  })
}

/**
 * Reads the operations of a document, or those with the given names, by name. If paths begin with the prefix of the interface, those
 * that do not are of another interface, such as the one that issues tokens.
 */
export const readOperations = (
  document: Json.JsonObject,
  reader: SchemaReader,
  names?: ReadonlySet<string>
): ReadonlyArray<Read> => {
  const paths = Object.entries(Json.objectOrEmpty(document["paths"], "#/paths"))
  const base = paths.some(([path]) => path.startsWith(`${prefix}/`)) ? prefix : ""
  const unreadable: Array<Read> = []
  const places = paths.filter(([path]) => !path.startsWith("x-")).flatMap(([path, value]): ReadonlyArray<Place> => {
    if (!path.startsWith(`${base}/`)) {
      const reason = base === "" ? "does not begin with a slash" : `is outside of ${base}`
      reader.note(at("#/paths", path), `the path ${reason}, so its operations are left out`)
      return []
    }
    return Either.getOrElse(attempt(() => placesOf(document, reader, path, value)), (error) => {
      unreadable.push({ _tag: "Unreadable", name: path, id: undefined, group: [], stage: "ga", error })
      return []
    })
  })
  if (places.length === 0 && unreadable.length === 0) fail("#/paths", "the document has no operations")
  const found = Array.from(nameAll(places), ([place, { name, taken }]): ReadonlyArray<Read> => {
    if (names !== undefined && !names.has(name)) return []
    if (taken !== undefined) {
      reader.note(
        place.pointer,
        `the operation is called ${name}, because the name ${taken[0]} is that of the one at ${taken[1]}`
      )
    }
    return [readAt(name, place, base)]
  })
  return [...found.flat(), ...unreadable].sort((a, b) => a.name < b.name ? -1 : 1)
}

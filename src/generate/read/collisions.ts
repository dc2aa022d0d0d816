/** Gives each field of an operation's input a name of its own: parts of the request may use one name for several things. */
import type { Body, Operation } from "../model/operation.js"
import { at, fail } from "../model/specError.js"
import type { SchemaReader } from "./schemaReader.js"

const namesIn = (body: Body | undefined): ReadonlyArray<string> =>
  body === undefined ? [] : body._tag === "Whole" ? ["body"] : body.shape.fields.map(({ name }) => name)

/** Renames fields of the path, because nothing of their names is sent: `id` becomes `path_id`. */
const withOwnParams = (reader: SchemaReader, operation: Operation): Operation => {
  const { body, headers, params, query } = operation
  const taken = new Set([...[...params, ...query, ...headers].map(({ name }) => name), ...namesIn(body)])
  const others = new Set([...[...query, ...headers].map(({ name }) => name), ...namesIn(body)])
  const free = (name: string): string => taken.has(name) ? free(`path_${name}`) : name
  const renamed = new Map(params.filter(({ name }) => others.has(name)).map(({ name }) => [name, free(name)]))
  for (const [name, own] of renamed) {
    reader.note(
      operation.pointer,
      `the field ${name} of the path is called ${own}, because another part of the request has ${name}`
    )
  }
  return {
    ...operation,
    path: operation.path.replace(/\{([^}]*)\}/g, (_, name: string) => `{${renamed.get(name) ?? name}}`),
    params: params.map((param) => ({ ...param, name: renamed.get(param.name) ?? param.name }))
  }
}

/** A body with a field that the query or a header has, too, is given as a whole, in the field `body`. */
const withOwnBody = (reader: SchemaReader, operation: Operation): Operation => {
  const { body, headers, pointer, query } = operation
  const twice = namesIn(body).find((name) => [...query, ...headers].some((parameter) => parameter.name === name))
  if (body === undefined || twice === undefined) return operation
  if (body._tag !== "Payload") {
    return fail(pointer, `the field ${JSON.stringify(twice)} is one of the query or a header and of the body`)
  }
  reader.note(
    pointer,
    `the body is the field body as a whole, because another part of the request has the field ${twice}, too`
  )
  return withOwnBody(reader, { ...operation, body: { _tag: "Whole", shape: body.shape, isOptional: false } })
}

/** A header that has the name of a field of the query is left out, unless it is required. */
const withOwnHeaders = (reader: SchemaReader, operation: Operation): Operation => {
  const { headers, pointer, query } = operation
  const isTaken = (name: string) => query.some((parameter) => parameter.name === name)
  for (const { name, required } of headers.filter(({ name }) => isTaken(name))) {
    if (required) fail(at(pointer, "parameters"), `the field ${JSON.stringify(name)} is one of the query and a header`)
    reader.note(at(pointer, "parameters"), `the header ${name} is left out, because the query has a field of that name`)
  }
  return { ...operation, headers: headers.filter(({ name }) => !isTaken(name)) }
}

export const withOwnNames = (reader: SchemaReader, operation: Operation): Operation =>
  withOwnParams(reader, withOwnBody(reader, withOwnHeaders(reader, operation)))

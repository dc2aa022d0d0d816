/** Reads and validates an OpenAPI document. */
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Effect from "effect/Effect"
import { at, SpecError } from "../model/specError.js"
import * as Json from "./json.js"
import { parse } from "./parse.js"

/** Shared by all documents: it compiles its schemas once, which takes 90 ms. */
const validator = new Validator()

interface Reference {
  readonly target: string
  readonly pointer: string
}

/** Fields with values of the interface: what looks like a reference in them is none. `value` is one of an example with a name. */
const values = new Set(["const", "default", "enum", "example", "value"])

/** Fields whose own fields have names that the document chooses. */
const named = new Set(
  "$defs callbacks content definitions dependentSchemas encoding examples headers links patternProperties properties responses"
    .split(" ")
)

/** The references in a part of a document, with their places. In a part `hasNames`, no field is a keyword. */
const references = (value: unknown, pointer: string, hasNames = false): ReadonlyArray<Reference> => {
  if (Array.isArray(value)) return value.flatMap((each, index) => references(each, at(pointer, index)))
  if (!Json.isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const isValue = values.has(name) || (name === "examples" && Array.isArray(inner))
    if (!hasNames && isValue) return []
    return name === "$ref" && typeof inner === "string"
      ? [{ target: inner, pointer: at(pointer, name) }]
      : references(inner, at(pointer, name), !hasNames && named.has(name))
  })
}

/** The references that the operations lead to, those that they lead to included. */
const reachable = (document: Json.JsonObject): ReadonlyArray<Reference> => {
  const found = references(document["paths"], "#/paths")
  const visited = new Set<string>()
  const all = [...found]
  for (const { target } of all) {
    if (visited.has(target)) continue
    visited.add(target)
    all.push(...references(Json.lookUp(document, target), target))
  }
  return all
}

/** Fails for a reference that leads to nothing; those that no operation leads to do no harm. */
const checkReferences = (document: Json.JsonObject): Effect.Effect<void, SpecError> => {
  const broken = reachable(document).find(({ target }) => Json.lookUp(document, target) === undefined)
  if (broken === undefined) return Effect.void
  const { pointer, target } = broken
  const reason = target.startsWith("#/") ? "leads to nothing" : "leads out of the document: bundle it first"
  return new SpecError({ pointer, message: `the reference ${target} ${reason} (at ${pointer})` })
}

interface AjvError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Json.JsonObject
  /** The name that is not allowed, if the issue is about one. */
  readonly propertyName?: string
}

/** The higher, the less an issue tells: that alternatives do not fit; that a value which is no reference is no reference. */
const rank = ({ keyword, params }: AjvError): number =>
  params["missingProperty"] === "$ref" ? 2 : /Of$|^if$|^not$/.test(keyword) ? 1 : 0

/** The most telling of the validator's issues: the deepest, and of those at one place that of the lowest rank. */
const mostTelling = (errors: ReadonlyArray<AjvError>): AjvError | undefined =>
  [...errors].sort((a, b) =>
    b.instancePath.split("/").length - a.instancePath.split("/").length || rank(a) - rank(b)
  )[0]

const issueOf = (errors: ReadonlyArray<AjvError>): SpecError => {
  const { instancePath = "", message = "is invalid", params = {}, propertyName } = mostTelling(errors) ?? {}
  const pointer = propertyName === undefined ? `#${instancePath}` : at(`#${instancePath}`, propertyName)
  const [name] = Object.values(params).filter((value) => typeof value === "string")
  const text = name === undefined || message.includes(String(name)) ? message : `${message}: ${String(name)}`
  return new SpecError({ pointer, message: `${text} (at ${pointer})` })
}

/**
 * The document as it is validated: OpenAPI demands a description of each response, and documents that are reduced to facts have
 * none.
 */
const described = (document: Json.JsonObject): Json.JsonObject =>
  inField(
    inField(inField(document, "paths", pathItems), "webhooks", pathItems),
    "components",
    (components) =>
      inField(inField(inField(components, "responses", responses), "callbacks", callbacks), "pathItems", pathItems)
  )

type Change = (value: Json.JsonObject) => Json.JsonObject

/** Changes the object in a field, if there is one. */
const inField = (value: Json.JsonObject, name: string, change: Change): Json.JsonObject => {
  const inner = Json.own(value, name)
  return Json.isObject(inner) ? { ...value, [name]: change(inner) } : value
}

/** Changes the objects in all fields. */
const inEach = (change: Change): Change => (value) =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, Json.isObject(inner) ? change(inner) : inner]))

const responses = inEach((response) => "$ref" in response ? response : { description: "", ...response })

const pathItems: Change = inEach(
  inEach((operation) => inField(inField(operation, "responses", responses), "callbacks", callbacks))
)

const callbacks: Change = inEach((callback) => pathItems(callback))

/** Validates a parsed document as OpenAPI 3.0 or 3.1. */
export const validate = (document: unknown): Effect.Effect<Json.JsonObject, SpecError> =>
  Effect.gen(function*() {
    if (!Json.isObject(document)) return yield* new SpecError({ pointer: "#", message: "the document is no object" })
    const { errors } = yield* Effect.promise(() => validator.validate(described(document)))
    // The validator's own check of references, whose issue is a string, names no place.
    if (Array.isArray(errors)) return yield* issueOf(errors)
    yield* checkReferences(document)
    const version = String(document["openapi"])
    return /^3\.[01]\b/.test(version)
      ? document
      : yield* new SpecError({ pointer: "#/openapi", message: `version ${version} is not supported, only 3.0 and 3.1` })
  })

/** Parses JSON or YAML and validates it. */
export const readDocument = (text: string): Effect.Effect<Json.JsonObject, SpecError> =>
  Effect.flatMap(parse(text), validate)

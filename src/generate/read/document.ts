/** Reads and validates an OpenAPI document. */
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Effect from "effect/Effect"
import { parse as parseYaml } from "yaml"
import { at, SpecError } from "../model/specError.js"
import * as Json from "./json.js"

interface Reference {
  readonly target: string
  readonly pointer: string
}

/** The references in a part of a document, with their places. */
const references = (value: unknown, pointer: string): ReadonlyArray<Reference> => {
  if (Array.isArray(value)) return value.flatMap((each, index) => references(each, at(pointer, index)))
  if (!Json.isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "$ref" && typeof inner === "string"
      ? [{ target: inner, pointer: at(pointer, name) }]
      : references(inner, at(pointer, name))
  )
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

/** The most telling of the validator's issues: the deepest, and of those at one place not the one about alternatives. */
const mostTelling = (errors: ReadonlyArray<AjvError>): AjvError | undefined =>
  [...errors].sort((a, b) =>
    b.instancePath.split("/").length - a.instancePath.split("/").length ||
    Number(/Of$|^if$|^not$/.test(a.keyword)) - Number(/Of$|^if$|^not$/.test(b.keyword))
  )[0]

const issueOf = (errors: ReadonlyArray<AjvError>): SpecError => {
  const { instancePath = "", message = "is invalid", params = {}, propertyName } = mostTelling(errors) ?? {}
  const pointer = propertyName === undefined ? `#${instancePath}` : at(`#${instancePath}`, propertyName)
  const [name] = Object.values(params).filter((value) => typeof value === "string")
  const text = name === undefined || message.includes(String(name)) ? message : `${message}: ${String(name)}`
  return new SpecError({ pointer, message: `${text} (at ${pointer})` })
}

const parse = (text: string): Effect.Effect<unknown, SpecError> =>
  Effect.try({
    try: (): unknown => /^\s*\{/.test(text) ? JSON.parse(text) : parseYaml(text, { maxAliasCount: 1000 }),
    catch: (error) => new SpecError({ pointer: "#", message: `the document cannot be parsed: ${messageOf(error)}` })
  })

const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/**
 * The document as it is validated: OpenAPI demands a description of each response, and documents that are reduced to facts have
 * none.
 */
const described = (value: unknown, isResponses = false): unknown => {
  if (Array.isArray(value)) return value.map((each) => described(each))
  if (!Json.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const copy = described(inner, name === "responses")
      return [name, isResponses && Json.isObject(copy) && !("$ref" in copy) ? { description: "", ...copy } : copy]
    })
  )
}

/** Parses JSON or YAML and validates it as OpenAPI 3.0 or 3.1. */
export const readDocument = (text: string): Effect.Effect<Json.JsonObject, SpecError> =>
  Effect.gen(function*() {
    const document = yield* parse(text.replace(/^\uFEFF/, ""))
    if (!Json.isObject(document)) return yield* new SpecError({ pointer: "#", message: "the document is no object" })
    // Sound: a copy of an object is one.
    const copy = described(document) as Record<string, unknown>
    const { errors } = yield* Effect.promise(() => new Validator().validate(copy))
    // The validator's own check of references, whose issue is a string, names no place.
    if (Array.isArray(errors)) return yield* issueOf(errors)
    yield* checkReferences(document)
    const version = String(document["openapi"])
    return /^3\.[01]\b/.test(version)
      ? document
      : yield* new SpecError({ pointer: "#/openapi", message: `version ${version} is not supported, only 3.0 and 3.1` })
  })

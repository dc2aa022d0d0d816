/** Reads and validates an OpenAPI document. */
import { Validator } from "@seriousme/openapi-schema-validator"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import { at, SpecError } from "../model/specError.js"
import * as Json from "./json.js"
import { parse } from "./parse.js"

/** Shared by all documents: it compiles its schemas once, which takes 90 ms. It lists all errors, because each costs its operation. */
const validator = new Validator({ allErrors: true, validateFormats: false })

/** What is wrong with a document, by the place of the part that is wrong as a whole: an operation or a component. */
export type Faults = ReadonlyMap<string, SpecError>

interface AjvError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Json.JsonObject
  /** The name that is not allowed, if the issue is about one. */
  readonly propertyName?: string
}

/**
 * The higher, the less an issue tells: that alternatives do not fit, or that a field is not allowed, which the validator says of each
 * field around an issue, too; that a value which is no reference is no reference.
 */
const rank = ({ keyword, params }: AjvError): number =>
  params["missingProperty"] === "$ref" ? 2 : /Of$|^if$|^not$|^unevaluated/.test(keyword) ? 1 : 0

/** The most telling of the validator's issues: the deepest, and of those at one place that of the lowest rank. */
const mostTelling = (errors: readonly [AjvError, ...ReadonlyArray<AjvError>]): AjvError =>
  errors.reduce((a, b) => {
    const depth = b.instancePath.split("/").length - a.instancePath.split("/").length
    return depth > 0 || (depth === 0 && rank(b) < rank(a)) ? b : a
  })

const errorOf = ({ instancePath, message = "is invalid", params, propertyName }: AjvError): SpecError => {
  const pointer = propertyName === undefined ? `#${instancePath}` : at(`#${instancePath}`, propertyName)
  const [name] = Object.values(params).filter((value) => typeof value === "string")
  const text = name === undefined || message.includes(String(name)) ? message : `${message}: ${String(name)}`
  return new SpecError({ pointer, message: `${text} (at ${pointer})` })
}

/** The place of the part that an issue is about: an operation, a component, or a field of the document. */
const partOf = ({ instancePath, params }: AjvError): string => {
  const field = params["additionalProperty"] ?? params["unevaluatedProperty"]
  const [start = "#", top, ...rest] = (field === undefined ? `#${instancePath}` : at(`#${instancePath}`, String(field)))
    .split("/")
  return [start, ...top === undefined ? [] : [top], ...top === "paths" || top === "components" ? rest.slice(0, 2) : []]
    .join("/")
}

/** Tells whether what is wrong costs no operation: it is neither in one nor in what one can use. */
export const isHarmless = (part: string): boolean =>
  !/^#\/(?:components|paths\/[^/]+\/(?:get|post|put|patch|delete|parameters)$)/.test(part)

/** References can name a component of any name, though OpenAPI allows few characters. */
const isName = ({ instancePath, keyword, propertyName }: AjvError): boolean =>
  /^\/components\/\w+$/.test(instancePath) && (propertyName !== undefined || keyword === "propertyNames")

const faultsOf = (errors: ReadonlyArray<AjvError>): Faults => {
  const byPart = Object.entries(Arr.groupBy(errors.filter((error) => !isName(error)), partOf))
  const isAround = (part: string) => byPart.some(([other]) => other.startsWith(`${part}/`))
  return new Map(
    byPart.map(([part, errors]) => [part, mostTelling(errors)] as const)
      .filter(([part, error]) => rank(error) === 0 || !isAround(part))
      .map(([part, error]) => [part, errorOf(error)])
  )
}

/**
 * The document as it is validated: OpenAPI demands responses of each operation, and a description of each, which many documents
 * lack.
 */
const described = (document: Json.JsonObject): Json.JsonObject =>
  inField(
    inField(inField(document, "paths", pathItems), "webhooks", pathItems),
    "components",
    (components) =>
      inField(inField(inField(components, "responses", responses), "callbacks", callbacks), "pathItems", pathItems)
  )

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]

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

const operationResponses: Change = (value) => responses(Object.keys(value).length === 0 ? { default: {} } : value)

const operation: Change = (value) =>
  inField(inField({ responses: {}, ...value }, "responses", operationResponses), "callbacks", callbacks)

const pathItems: Change = inEach((item) => methods.reduce((item, method) => inField(item, method, operation), item))

const callbacks: Change = inEach((callback) => pathItems(callback))

/** Validates a parsed document as OpenAPI 3.0 or 3.1. What is not valid costs the operations that are or use it. */
export const validate = (
  document: unknown
): Effect.Effect<{ readonly document: Json.JsonObject; readonly faults: Faults }, SpecError> =>
  Effect.gen(function*() {
    if (!Json.isObject(document)) return yield* new SpecError({ pointer: "#", message: "the document is no object" })
    const version = String(document["openapi"] ?? document["swagger"])
    if (!/^3\.[01]\b/.test(version)) {
      return yield* new SpecError({
        pointer: "#/openapi",
        message: `version ${version} is not supported, only OpenAPI 3.0 and 3.1 (at #/openapi)`
      })
    }
    const { errors } = yield* Effect.promise(() => validator.validate(described(document)))
    // The validator's own check of references, whose issue is a string, names no place. The readers check those that they follow.
    return { document, faults: Array.isArray(errors) ? faultsOf(errors) : new Map() }
  })

/** Parses JSON or YAML and validates it. */
export const readDocument = (text: string) => Effect.flatMap(parse(text), validate)

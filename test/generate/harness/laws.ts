/** Calls one generated operation in every way that the document allows, and in some that it does not. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import type { Any } from "../../../src/Endpoint.js"
import type { IdentityClient } from "../../../src/IdentityClient.js"
import * as Retry from "../../../src/Retry.js"
import type * as Tenant from "../../../src/Tenant.js"
import { servedOperations } from "../../../src/tenant/api/routes.js"
import { type Described, isObject, type Json, type JsonObject, resolve } from "./document.js"
import { type BodyKind, callerInput, canonical, differences, type Input, inputsOf, type Received } from "./inputs.js"
import type { Values } from "./values.js"

/** A generated operation. */
export interface Subject {
  (input: never): Effect.Effect<unknown, unknown, IdentityClient>
  readonly endpoint: Any
}

/** All that the checks of one operation need. */
export interface World {
  readonly document: JsonObject
  readonly values: Values
  readonly tenant: Tenant.Tenant["Type"]
  readonly received: Array<Received>
  /** Runs a call with the client of these scopes; `undefined`: all. */
  readonly as: <A, E>(call: Effect.Effect<A, E, IdentityClient>, scope: string | undefined) => Effect.Effect<A, E>
}

/** What was checked, and what was wrong. */
export interface Report {
  readonly name: string
  readonly inputs: number
  readonly responses: number
  readonly statuses: number
  readonly faults: ReadonlyArray<string>
}

/** The classes of failures, by their status. */
const classes: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  402: "PaymentRequired",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Gone",
  412: "PreconditionFailed",
  413: "ContentTooLarge",
  429: "RateLimited",
  500: "InternalServerError",
  503: "ServiceUnavailable"
}

/** Statuses of every kind, those without a class too. */
const statuses = [...Object.keys(classes).map(Number), 418, 302, 502]

const kindOf = ({ body, multipart, payload }: Any): BodyKind =>
  body !== undefined ? "body" : payload !== undefined ? "payload" : multipart !== undefined ? "multipart" : undefined

const isStream = (value: unknown): value is Stream.Stream<unknown, unknown, IdentityClient> =>
  Predicate.hasProperty(value, Stream.StreamTypeId)

/** Makes a call. A stream of events gives their data as a list. */
const invoke = ({ operation }: Check, input: unknown): Effect.Effect<unknown, unknown, IdentityClient> => {
  const called: unknown = operation(input as never)
  return isStream(called)
    ? Effect.map(
      Stream.runCollect(called),
      (events) => Array.from(events, (event) => Predicate.hasProperty(event, "data") ? event.data : event)
    )
    : called as Effect.Effect<unknown, unknown, IdentityClient> // sound: operations return nothing else
}

interface Check {
  readonly described: Described
  readonly operation: Subject
  readonly world: World
  readonly faults: Array<string>
}

const tagOf = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.match(exit, {
    onSuccess: () => "success",
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => `defect ${Cause.pretty(cause).slice(0, 500)}`,
        onSome: (error) => Predicate.hasProperty(error, "_tag") ? String(error._tag) : "no tag"
      })
  })

const messageOf = (exit: Exit.Exit<unknown, unknown>): string => {
  const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.failureOption(exit.cause)) : undefined
  return Predicate.hasProperty(error, "message")
    ? `${tagOf(exit)}: ${String(error.message).slice(0, 300)}`
    : tagOf(exit)
}

/** An input whose lists of one item are the item: a query does not tell them apart where it allows both. */
const asQuery = (input: unknown): unknown =>
  Predicate.isRecord(input)
    ? Record.map(input, (value) => Array.isArray(value) && value.length === 1 ? value[0] : value)
    : input

/** Makes one call without retries, and gives its requests. */
const attempt = (check: Check, input: unknown, scope?: string) =>
  Effect.gen(function*() {
    const { as, received } = check.world
    const before = received.length
    const exit = yield* Effect.exit(as(Retry.withoutRetries(Effect.suspend(() => invoke(check, input))), scope))
    const requests = received.slice(before).filter(({ target }) => !target.startsWith("/oauth/token"))
    return { exit, requests }
  })

/** Sends each input and decodes each response, in pairs. */
const checkExchanges = (check: Check, inputs: ReadonlyArray<Input>, responses: ReadonlyArray<Json | undefined>) =>
  Effect.gen(function*() {
    const { described, faults, operation, world: { document, tenant } } = check
    const kind = kindOf(operation.endpoint)
    for (let index = 0; index < Math.max(inputs.length, responses.length); index++) {
      const input = inputs[index % inputs.length]!
      const response = responses[index % responses.length]
      const given = callerInput(document, described, input, kind, index)
      let seen: unknown
      yield* tenant.respond(operation as never, (decoded: unknown) => {
        seen = decoded
        return Effect.succeed(response as never)
      })
      const { exit, requests } = yield* attempt(check, given)
      const [request] = requests
      if (Exit.isFailure(exit)) {
        faults.push(`${messageOf(exit)} for ${canonical(given).slice(0, 300)} and ${canonical(response).slice(0, 300)}`)
        continue
      }
      if (canonical(exit.value) !== canonical(response)) {
        faults.push(`decoded ${canonical(exit.value).slice(0, 200)} of ${canonical(response).slice(0, 200)}`)
      }
      if (request === undefined || requests.length > 1) faults.push(`${requests.length} requests for one call`)
      else faults.push(...differences(document, described, input, "/api/v2", request))
      if (kind !== "multipart" && canonical(asQuery(seen)) !== canonical(asQuery(given))) {
        faults.push(`the tenant read ${canonical(seen).slice(0, 200)} of ${canonical(given).slice(0, 200)}`)
      }
    }
  })

const failureBody = (status: number, more: object = {}) => ({ statusCode: status, error: "E", message: "m", ...more })

/**
 * Each status fails with its class if it is documented, else with `UnexpectedResponse`. 400 and 429 always have their classes, and 404 if
 * the path has a parameter, because documents often leave them out.
 */
const checkStatuses = (check: Check, input: unknown) =>
  Effect.gen(function*() {
    const { described, faults, operation, world: { tenant } } = check
    const { params } = operation.endpoint
    const documented = [...described.failures, 400, 429, ...params === undefined ? [] : [404]]
    const expect = (status: number, body: object, tag: string) =>
      Effect.gen(function*() {
        const times = status === 401 ? 2 : 1 // a 401 is tried once more, with another token
        yield* tenant.injectFault({ operation: operation.endpoint.name, status, body, times })
        const { exit, requests } = yield* attempt(check, input)
        if (tagOf(exit) !== tag) faults.push(`${status}: ${messageOf(exit)}, expected ${tag}`)
        for (let left = requests.length; left < times; left++) yield* attempt(check, input)
      })
    for (const status of statuses) {
      const tag = documented.includes(status) ? classes[status] ?? "UnexpectedResponse" : "UnexpectedResponse"
      yield* expect(status, failureBody(status), tag)
    }
    const insufficient = documented.includes(403) ? "InsufficientScope" : "UnexpectedResponse"
    yield* expect(
      403,
      failureBody(403, {
        errorCode: "insufficient_scope",
        message: "Insufficient scope, expected any of: read:things"
      }),
      insufficient
    )
  })

/** Each documented success is a success, with its own status. */
const checkSuccesses = (check: Check, input: unknown) =>
  Effect.gen(function*() {
    const { described, faults, operation, world: { tenant, values } } = check
    if (described.events !== undefined) return
    for (const { schema, status } of described.successes) {
      const body = schema === undefined ? undefined : values.of(schema, "response")[0]
      yield* tenant.injectFault({
        operation: operation.endpoint.name,
        status,
        ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } })
      })
      const { exit } = yield* attempt(check, input)
      if (tagOf(exit) !== "success") faults.push(`${status}: ${messageOf(exit)}`)
    }
  })

const wrongTypes: ReadonlyArray<unknown> = [{ not: "expected" }, ["not expected"], "not expected", 1.5, true, null]

/** Inputs that the document does not allow: a field too many, one too few, and one of another type. */
const mutations = (
  { described, world: { document, values } }: Check,
  given: Readonly<Record<string, unknown>>,
  kind: BodyKind
) => {
  const parameter = described.parameters.find(({ required }) => required)
  const schema = resolve(document, described.body?.schema)
  const wrongType = described.parameters.flatMap(({ name, place, schema }) => {
    const wrong = wrongTypes.find((value) =>
      place === "query" ? !values.isValid(schema, value) : typeof value !== "string"
    )
    return wrong === undefined ? [] : [{ ...given, [name]: wrong }]
  })
  const wrongBody = described.body === undefined || kind === "multipart" ? [] : wrongTypes
    .filter((value) => !values.isValid(described.body!.schema, value))
    .flatMap((value) => kind === "body" ? [{ ...given, body: value }] : [])
  const wrongField = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {}).flatMap(
    ([name, property]) => {
      const wrong = wrongTypes.find((value) => isObject(property) && !values.isValid(property, value))
      return kind !== "payload" || wrong === undefined ? [] : [{ ...given, [name]: wrong }]
    }
  )
  return [
    { ...given, "no field of the operation": 1 },
    ...(parameter === undefined
      ? []
      : [Object.fromEntries(Object.entries(given).filter(([name]) => name !== parameter.name))]),
    ...wrongType.slice(0, 1),
    ...wrongBody.slice(0, 1),
    ...wrongField.slice(0, 1)
  ]
}

const checkInvalid = (check: Check, given: Readonly<Record<string, unknown>>) =>
  Effect.forEach(
    mutations(check, given, kindOf(check.operation.endpoint)),
    (invalid) =>
      Effect.map(attempt(check, invalid), ({ exit, requests }) => {
        if (tagOf(exit) !== "InvalidInput") {
          check.faults.push(`${messageOf(exit)} for the invalid ${canonical(invalid).slice(0, 200)}`)
        }
        if (requests.length > 0) check.faults.push("an invalid input was sent")
      })
  )

/** A call that may take effect twice is not repeated after a connection was cut. */
const checkCut = (check: Check, input: unknown) =>
  Effect.gen(function*() {
    const { described, faults, operation: { endpoint }, world: { as, received, tenant } } = check
    if (described.method === "GET" && !endpoint.idempotent) faults.push("a GET is declared as not idempotent")
    yield* tenant.injectFault({ operation: endpoint.name, cut: "before" })
    const before = received.length
    const call = Retry.withPolicy(Effect.suspend(() => invoke(check, input)), { attempts: 2, delay: "1 millis" })
    const exit = yield* Effect.exit(as(call, undefined))
    const count = received.slice(before).filter(({ target }) => !target.startsWith("/oauth/token")).length
    const expected = endpoint.idempotent ? "success after 2 requests" : "TransportError after 1 requests"
    const found = `${tagOf(exit)} after ${count} requests`
    if (found !== expected) faults.push(`a cut connection: ${found}, expected ${expected}`)
  })

/** Any of the documented scopes is enough, and none is not. */
const checkScopes = (check: Check, input: unknown) =>
  Effect.gen(function*() {
    const { described: { failures, scopes }, faults } = check
    const { exit } = yield* attempt(check, input, "")
    const refused = failures.includes(403) ? "InsufficientScope" : "UnexpectedResponse"
    const expected = scopes.length === 0 ? "success" : refused
    if (tagOf(exit) !== expected) faults.push(`without scopes: ${messageOf(exit)}, expected ${expected}`)
    if (scopes.length < 2) return
    for (const scope of scopes) {
      const { exit } = yield* attempt(check, input, scope)
      if (tagOf(exit) !== "success") faults.push(`with ${scope}: ${messageOf(exit)}`)
    }
  })

/** The tenant responds by itself with a value that the operation decodes. */
const checkOwnResponse = (check: Check, input: unknown) =>
  Effect.map(attempt(check, input), ({ exit }) => {
    if (tagOf(exit) !== "success") check.faults.push(`the tenant's own response: ${messageOf(exit)}`)
  })

/** Runs all checks of one operation. */
export const checkOperation = (described: Described, operation: Subject, world: World): Effect.Effect<Report> =>
  Effect.gen(function*() {
    const faults: Array<string> = []
    const check: Check = { described, operation, world, faults }
    const { document, values } = world
    const kind = kindOf(operation.endpoint)
    const inputs = inputsOf(described, values, kind)
    const bodies = described.successes.flatMap(({ schema }) => schema === undefined ? [] : [schema])
      .flatMap((schema) => values.of(schema, "response"))
    const events = described.events && values.of(described.events, "response")
    const responses = events !== undefined ? [events, []] : bodies.length === 0 ? [undefined] : bodies
    const [input = { path: {}, query: {}, header: {}, body: undefined }] = inputs
    const given = callerInput(document, described, input, kind, 0)
    if (described.parameters.some((each) => each.required && values.of(each.schema, each.place).length === 0)) {
      faults.push("the harness found no value of a required parameter")
    }
    if (described.body?.required === true && input.body === undefined) faults.push("the harness found no body")
    if (described.successes.some(({ schema }) => schema !== undefined) && bodies.length === 0) {
      faults.push("the harness found no response")
    }
    if (!worksOnState(operation)) yield* checkOwnResponse(check, given)
    yield* checkExchanges(check, inputs, responses)
    yield* checkSuccesses(check, given)
    yield* checkStatuses(check, given)
    yield* checkInvalid(check, given)
    yield* checkCut(check, given)
    yield* checkScopes(check, given)
    return {
      name: operation.endpoint.name,
      inputs: inputs.length,
      responses: responses.length,
      statuses: statuses.length + 1,
      faults
    }
  })

export const routeOf = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path.replace(/:[^/]+|\{[^}]+\}/g, ":")}`

const builtIn = servedOperations.map(({ endpoint }) => routeOf(endpoint))

/** Tells whether the tenant carries an operation out on its data: then its own response depends on that. */
const worksOnState = ({ endpoint }: Subject): boolean => builtIn.includes(routeOf(endpoint))

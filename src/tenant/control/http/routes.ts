/** Serves the control interface: checks who asks, validates what is asked, and responds as JSON. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { Fields } from "../../../Endpoint.js"
import { text as bodyText } from "../../../internal/http/errorBody.js"
import { schemeOf } from "../../exports/link.js"
import type { AllowedHosts } from "../../server/allowedHosts.js"
import { readBody, splitTarget } from "../../server/app.js"
import { check } from "../../server/fieldErrors.js"
import { decodeQuery, type FieldError } from "../../server/formDecoding.js"
import { parseJson } from "../../server/json.js"
import * as Router from "../../server/router.js"
import * as Actions from "../actions.js"
import type { Controlled } from "../controlled.js"
import { addresses, type Refusal } from "../messages.js"
import { refusalOf } from "./access.js"
import { type Declaration, declarations } from "./declarations.js"
import * as OpenApi from "./openapi.js"
import * as EventStream from "./stream.js"

/** The size of the largest body, in bytes: of a saved state, and of any other. */
const bodyLimits = { load: 67_108_864, other: 1_048_576 }

const withCommonHeaders = HttpServerResponse.setHeaders({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin"
})

const json = (body: unknown, status = 200) =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json; charset=utf-8" })

const refuse = (refusal: Refusal) => json(refusal, refusal.status)

const invalid = ({ message, path }: FieldError): Refusal => ({
  status: 400,
  message: path === "" ? message : `${path}: ${message}`,
  ...(path !== "" && { field: path })
})

const parse = (text: string): Either.Either<unknown, FieldError> =>
  text.trim() === "" ? Either.right({}) : parseJson(text)

const checkFields = (fields: Fields | undefined, decoded: Either.Either<unknown, FieldError>) =>
  fields === undefined
    ? Either.right({})
    : Either.flatMap(decoded, (value) => check(Schema.typeSchema(Schema.Struct(fields)), value))

/** Reads the input of an address; fails with the refusal that names the invalid field. */
const readInput = (name: string, { body, params, query }: Declaration) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const [, search] = splitTarget(request)
    const read = body && (yield* readBody(request, name === "load" ? bodyLimits.load : bodyLimits.other))
    // Without a body, some actions are for all things: the beginning of one must not count as none.
    if (read?.problem !== undefined) {
      return yield* Effect.fail<Refusal>(
        read.problem === "tooLarge"
          ? { status: 413, message: "The body is too large" }
          : { status: 400, message: "The body is incomplete" }
      )
    }
    const input = Either.all({
      params: checkFields(params, Either.right(yield* HttpRouter.params)),
      query: checkFields(query, decodeQuery(query ?? {}, new URLSearchParams(search))),
      body: body === undefined || read === undefined
        ? Either.right({})
        : Either.flatMap(parse(bodyText(read.content)), (value) => check(body, value))
    })
    return yield* Either.match(input, { onLeft: (error) => Effect.fail(invalid(error)), onRight: Effect.succeed })
  })

/** The application for all requests below `/_tenant/`. */
export const make = (
  controlled: Controlled,
  key: Redacted.Redacted<string>,
  allowedHosts: AllowedHosts
): Effect.Effect<Router.App> => {
  const actions = Actions.make(controlled)

  const openapi = Effect.map(
    HttpServerRequest.HttpServerRequest,
    (request) => json(OpenApi.make(`${schemeOf(request)}://${request.headers["host"] ?? "localhost"}`))
  )
  const events = Effect.map(
    Effect.clock,
    (clock) => HttpServerResponse.stream(EventStream.make(controlled, clock), { contentType: "text/event-stream" })
  )
  const respond = (name: Actions.ActionName) => {
    // Sound: `readInput` validates with the declaration, whose types are those of the action.
    const action: (input: never) => Effect.Effect<unknown, Refusal> = actions[name]
    return Effect.match(
      // A program that hangs up leaves no change half done.
      Effect.flatMap(readInput(name, declarations[name]), (input) => Effect.uninterruptible(action(input as never))),
      { onFailure: refuse, onSuccess: (body) => json(body) }
    )
  }

  const routes = Object.entries(addresses).map(([name, { method, path }]) =>
    HttpRouter.makeRoute(
      method,
      path,
      name === "openapi"
        ? openapi
        : name === "events"
        ? events
        : respond(name as Actions.ActionName) // sound: the others are named above
    )
  )
  const notFound = Effect.succeed(refuse({ status: 404, message: "There is no such address" }))

  return Effect.map(
    Router.make(routes, notFound),
    (app) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const refusal = refusalOf(request, key, allowedHosts)
        return refusal === undefined ? app : Effect.succeed(refuse(refusal))
      }).pipe(Effect.map(withCommonHeaders))
  )
}

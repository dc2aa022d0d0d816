/**
 * Serves the control interface: checks who asks, validates what is asked, and responds as JSON. `HttpApiBuilder` would read a body by the
 * type that it is sent with, which curl's is not, without a limit, and would put what was sent into its messages.
 */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { text as bodyText } from "../../../internal/http/errorBody.js"
import { schemeOf } from "../../exports/link.js"
import type { AllowedHosts } from "../../server/allowedHosts.js"
import { readBody, splitTarget } from "../../server/app.js"
import { check } from "../../server/fieldErrors.js"
import { decodeForm, type FieldError } from "../../server/formDecoding.js"
import { parseJson } from "../../server/json.js"
import * as Router from "../../server/router.js"
import * as Actions from "../actions.js"
import type { Controlled } from "../controlled.js"
import { refusalOf } from "./access.js"
import { endpoints } from "./api.js"
import type { Endpoint } from "./endpoints.js"
import * as OpenApi from "./openapi.js"
import type { Refusal } from "./schemas.js"
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

type Decoded = Either.Either<unknown, FieldError>

const parse = (text: string): Decoded => text.trim() === "" ? Either.right({}) : parseJson(text)

const checkPart = (schema: Endpoint["body"], decode: (schema: Schema.Schema.AnyNoContext) => Decoded): Decoded =>
  schema === undefined ? Either.right({}) : Either.flatMap(decode(schema), (value) => check(schema, value))

/** Reads the input of an endpoint; fails with the refusal that names the invalid field. */
const readInput = ({ body, name, params, query }: Endpoint) =>
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
    const pathParams = yield* HttpRouter.params
    const input = Either.all({
      params: checkPart(params, () => Either.right(pathParams)),
      query: checkPart(query, (schema) => decodeForm(schema, new URLSearchParams(search))),
      body: checkPart(body, () => parse(bodyText(read?.content ?? "")))
    })
    return yield* Either.match(input, { onLeft: (error) => Effect.fail(invalid(error)), onRight: Effect.succeed })
  })

/** The application for all requests below `/_tenant/`. */
export const make = (
  controlled: Controlled,
  key: Redacted.Redacted<string>,
  allowedHosts: AllowedHosts
): Effect.Effect<Router.App> => {
  const handlers: Actions.Handlers = {
    ...Actions.make(controlled),
    openapi: () =>
      Effect.map(
        HttpServerRequest.HttpServerRequest,
        (request) => OpenApi.make(`${schemeOf(request)}://${request.headers["host"] ?? "localhost"}`)
      ),
    events: () =>
      Effect.map(
        Effect.clock,
        (clock) => HttpServerResponse.stream(EventStream.make(controlled, clock), { contentType: "text/event-stream" })
      )
  }
  const routes = endpoints.map((endpoint) => {
    // Sound: there is a handler for each name, and `readInput` validates with the declaration, whose types are those of the handler.
    const handler = handlers[endpoint.name as keyof Actions.Handlers] as Actions.Handler<never, unknown>
    const respond = Effect.match(
      // A program that hangs up leaves no change half done.
      Effect.flatMap(readInput(endpoint), (input) => Effect.uninterruptible(handler(input as never))),
      {
        onFailure: refuse,
        onSuccess: (body) => HttpServerResponse.isServerResponse(body) ? body : json(body)
      }
    )
    return HttpRouter.makeRoute(endpoint.method, endpoint.path, respond)
  })
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

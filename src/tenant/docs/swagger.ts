/** The page at `/docs`: Swagger UI, which comes with the platform, over the document of a tenant. */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiSwagger from "@effect/platform/HttpApiSwagger"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { isJsonObject, type Json, type JsonObject } from "./jsonSchema.js"

const mapValues = (value: Json | undefined, change: (value: JsonObject) => JsonObject): JsonObject =>
  isJsonObject(value)
    ? Object.fromEntries(
      Object.entries(value).map(([name, value]) => [name, isJsonObject(value) ? change(value) : value])
    )
    : {}

/** Names an operation, and lets it ask for a token: Swagger UI cannot request one, because it sends no audience. */
const shownOperation = (operation: JsonObject): JsonObject => ({
  ...operation,
  summary: `${String(operation["operationId"])}: ${String(operation["summary"])}`,
  security: JSON.stringify(operation["security"]) === "[]" ? [] : [{ bearer: [] }]
})

const shown = ({ components, paths, ...document }: JsonObject): JsonObject => ({
  ...document,
  paths: mapValues(paths, (path) => mapValues(path, shownOperation)),
  components: {
    ...(isJsonObject(components) && components),
    securitySchemes: {
      bearer: {
        type: "http",
        scheme: "bearer",
        description: "The `access_token` of a response of the operation `token`."
      }
    }
  }
})

/** Renders the page. Its script and its style sheet are in it, and its policy allows requests to the tenant only. */
export const page = (document: JsonObject) =>
  Effect.gen(function*() {
    // A router of its own: that of the program, which a layer would find, must not get this route.
    const router = yield* HttpLayerRouter.make
    const api = HttpApi.make("tenant").annotate(OpenApi.Transform, () => shown(document))
    const route = HttpApiSwagger.layerHttpLayerRouter({ api, path: "/docs" })
    yield* Effect.provideService(Layer.build(route), HttpLayerRouter.HttpRouter, router)
    return yield* router.asHttpEffect()
  }).pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://tenant/docs")) // whatever the method and path of the tenant's own
    ),
    Effect.scoped,
    Effect.orDie, // the route is there
    Effect.map(HttpServerResponse.setHeaders({
      "referrer-policy": "no-referrer",
      "content-security-policy": [
        "default-src 'none'",
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'"
      ].join("; ")
    }))
  )

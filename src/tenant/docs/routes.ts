/** Serves the OpenAPI document at `/openapi.json`, and the pages, without fault, rate limit and log. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as PageRoutes from "../page/routes.js"
import type { JsonObject } from "./jsonSchema.js"

/** The routes for this document, which is made when it is first needed. With `control`, the live page is at `/`. */
export const make = (openapi: () => JsonObject, { control }: { readonly control: boolean }) => {
  const json = Effect.sync(() =>
    PageRoutes.withCommonHeaders(
      HttpServerResponse.text(JSON.stringify(openapi()), { contentType: "application/json" })
    )
  )
  // The router serves HEAD by the routes of GET.
  return [HttpRouter.makeRoute("GET", "/openapi.json", json), ...PageRoutes.make({ control })]
}

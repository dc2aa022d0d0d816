/** Serves the OpenAPI document at `/openapi.json` and a page at `/docs`, without fault, rate limit and log. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { JsonObject } from "./jsonSchema.js"

const withCommonHeaders = HttpServerResponse.setHeaders({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
})

/** The routes for this document, which is made when it is first needed. */
export const make = (openapi: () => JsonObject, scopes: ReadonlyArray<string>) => {
  const json = Effect.sync(() =>
    HttpServerResponse.text(JSON.stringify(openapi()), { contentType: "application/json" })
  )
  /** Loads the page and its libraries when it is asked for: importing the tenant stays cheap. */
  const html = Effect.flatMap(Effect.promise(() => import("./page.js")), ({ page }) => page(openapi(), scopes))
  // The router serves HEAD by the routes of GET.
  return [
    HttpRouter.makeRoute("GET", "/openapi.json", Effect.map(json, withCommonHeaders)),
    HttpRouter.makeRoute("GET", "/docs", Effect.map(html, withCommonHeaders))
  ]
}

/** Serves the OpenAPI document at `/openapi.json`, a page of it at `/docs`, and the live page, without fault, rate limit and log. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { JsonObject } from "./jsonSchema.js"

const withCommonHeaders = HttpServerResponse.setHeaders({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
})

/**
 * The routes for this document, which is made when it is first needed. With `control`, the live page is at `/`. Pages are loaded when
 * they are asked for, so importing the tenant stays cheap.
 */
export const make = (openapi: () => JsonObject, { control }: { readonly control: boolean }) => {
  const json = Effect.sync(() =>
    HttpServerResponse.text(JSON.stringify(openapi()), { contentType: "application/json" })
  )
  let rendered: HttpServerResponse.HttpServerResponse | undefined
  const render = Effect.flatMap(Effect.promise(() => import("./swagger.js")), ({ page }) => page(openapi()))
  const docs = Effect.suspend(() =>
    rendered === undefined
      ? Effect.tap(render, (page) => Effect.sync(() => (rendered = page)))
      : Effect.succeed(rendered)
  )
  const live = Effect.flatMap(Effect.promise(() => import("../page/html.js")), ({ page }) => page)
  // The router serves HEAD by the routes of GET.
  return [
    HttpRouter.makeRoute("GET", "/openapi.json", Effect.map(json, withCommonHeaders)),
    HttpRouter.makeRoute("GET", "/docs", Effect.map(docs, withCommonHeaders)),
    ...(control ? [HttpRouter.makeRoute("GET", "/", Effect.map(live, withCommonHeaders))] : [])
  ]
}

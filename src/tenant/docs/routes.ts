/** Serves the OpenAPI document at `/openapi.json` and a page at `/docs`, without fault, rate limit and log. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { openapi } from "./openapi.js"

const withCommonHeaders = HttpServerResponse.setHeaders({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
})

const json = HttpServerResponse.text(JSON.stringify(openapi), { contentType: "application/json" })

/** Loads the page and its libraries when it is asked for: importing the tenant stays cheap. */
const html = Effect.flatMap(Effect.promise(() => import("./page.js")), ({ page }) => page)

/** The router serves HEAD by the routes of GET. */
export const docsRoutes = [
  HttpRouter.makeRoute("GET", "/openapi.json", Effect.succeed(withCommonHeaders(json))),
  HttpRouter.makeRoute("GET", "/docs", Effect.map(html, withCommonHeaders))
]

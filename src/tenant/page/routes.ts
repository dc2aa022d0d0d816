/** Serves the pages, without fault, rate limit and log: `/docs`, and with controls also the live page at `/`. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type { PageName } from "./build.js"

export const withCommonHeaders = HttpServerResponse.setHeaders({
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
})

/** Loads a page when it is asked for: importing the tenant stays cheap. */
const page = (name: PageName) =>
  Effect.flatMap(Effect.promise(() => import("./html.js")), ({ page }) => Effect.map(page(name), withCommonHeaders))

/** The routes of the pages. The router serves HEAD by those of GET. */
export const make = ({ control }: { readonly control: boolean }) => [
  HttpRouter.makeRoute("GET", "/docs", page("docs")),
  ...(control ? [HttpRouter.makeRoute("GET", "/", page("live"))] : [])
]

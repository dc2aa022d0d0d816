/** Serves the OpenAPI document at `/openapi.json` and a page at `/docs`, without fault, rate limit and log. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import { openapi } from "./openapi.js"
import { page } from "./page.js"

/** Formats a hash as the content security policy names inline code. */
const hash = (code: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(code))),
    (digest) => `'sha256-${Encoding.encodeBase64(new Uint8Array(digest))}'`
  )

const commonHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

const json = HttpServerResponse.text(JSON.stringify(openapi), {
  contentType: "application/json",
  headers: commonHeaders
})

/** The policy allows the page to run its own script only, and to connect to this tenant only. */
const html = Effect.map(
  Effect.all([hash(page.script), hash(page.style)]),
  ([script, style]) =>
    HttpServerResponse.text(page.html, {
      contentType: "text/html; charset=utf-8",
      headers: {
        ...commonHeaders,
        "referrer-policy": "no-referrer",
        "content-security-policy": [
          "default-src 'none'",
          `script-src ${script}`,
          `style-src ${style}`,
          "img-src data:",
          "connect-src 'self'",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'"
        ].join("; ")
      }
    })
)

export const routes: ReadonlyArray<HttpRouter.Route<never, never>> = (["GET", "HEAD"] as const).flatMap((method) => [
  HttpRouter.makeRoute(method, "/openapi.json", Effect.succeed(json)),
  HttpRouter.makeRoute(method, "/docs", html)
])

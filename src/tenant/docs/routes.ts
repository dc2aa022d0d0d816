/** Where the tenant describes itself: `/openapi.json`, and `/docs` for people. What is asked there is no call: no fault, no limit, no log. */
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import { openapi } from "./openapi.js"
import { page } from "./page.js"

/** As a policy names what is inline. */
const hash = (text: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (digest) => `'sha256-${Encoding.encodeBase64(new Uint8Array(digest))}'`
  )

const common = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

const json = HttpServerResponse.text(JSON.stringify(openapi), { contentType: "application/json", headers: common })

/** It runs its own script and nothing else, and reaches nobody but this tenant. */
const html = Effect.map(
  Effect.all([hash(page.script), hash(page.style)]),
  ([script, style]) =>
    HttpServerResponse.text(page.html, {
      contentType: "text/html; charset=utf-8",
      headers: {
        ...common,
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

/** The routes. */
export const routes: ReadonlyArray<HttpRouter.Route<never, never>> = (["GET", "HEAD"] as const).flatMap((method) => [
  HttpRouter.makeRoute(method, "/openapi.json", Effect.succeed(json)),
  HttpRouter.makeRoute(method, "/docs", html)
])

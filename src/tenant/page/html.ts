/** Renders the live page: one file with its script and its style sheet. Its policy allows these two, by their hashes, and nothing else. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import { endpoints } from "../control/http/api.js"
import { bundle } from "./bundle.js"
import { type Address, addressesId } from "./ui/addresses.js"

/** The hash of an inline script or style sheet, as a content security policy names it. */
const hash = (text: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))),
    (digest) => `'sha256-${Encoding.encodeBase64(new Uint8Array(digest))}'`
  )

/** A gauge that is two thirds full. */
const icon = "data:image/svg+xml," + encodeURIComponent(
  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\"><rect width=\"16\" height=\"16\" rx=\"4\" fill=\"#4056c6\"/>" +
    "<path d=\"M4 3h8v10H4z\" fill=\"#fff\" opacity=\".35\"/><path d=\"M4 6h8v7H4z\" fill=\"#fff\"/></svg>"
)

const addresses = JSON.stringify(
  Object.fromEntries(endpoints.map(({ method, name, path }): [string, Address] => [name, { method, path }]))
)

/** Renders the page without any data: its script asks the tenant for them. */
export const page = Effect.gen(function*() {
  const { script, style } = yield* Effect.promise(bundle)
  const [scriptHash, styleHash] = yield* Effect.all([hash(script), hash(style)])
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tenant</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="${addressesId}">${addresses}</script>
<script>${script}</script>
</body>
</html>
`
  return HttpServerResponse.setHeaders(HttpServerResponse.html(html), {
    "referrer-policy": "no-referrer",
    "content-security-policy": [
      "default-src 'none'",
      `script-src ${scriptHash}`,
      `style-src ${styleHash}`,
      "img-src data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'"
    ].join("; ")
  })
})

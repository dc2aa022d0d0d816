/** The page at `/docs`: Scalar's API reference, which the platform contains, for a tenant's OpenAPI document. */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import type { JsonObject } from "./jsonSchema.js"

/** Settings of Scalar; those that the type of the platform lacks are passed on to it all the same. */
const settings = (selectedScopes: ReadonlyArray<string>) => ({
  withDefaultFonts: false, // they are on another host, as are the toolbar, the client button and the telemetry
  showToolbar: "never",
  hideClientButton: true,
  telemetry: false,
  hiddenClients: true,
  documentDownloadType: "direct",
  favicon: "data:,",
  customCss: ".references-rendered { overflow-x: clip } .scalar-toaster { width: auto !important }", // else too wide for a phone
  authentication: {
    preferredSecurityScheme: "clientCredentials",
    securitySchemes: {
      clientCredentials: {
        flows: {
          clientCredentials: {
            selectedScopes,
            "x-scalar-credentials-location": "body",
            "x-scalar-security-body": { audience: "/api/v2/" }
          }
        }
      }
    }
  }
})

/** The hash of an inline script, as a content security policy names it. */
const hash = (script: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(script))),
    (digest) => `'sha256-${Encoding.encodeBase64(new Uint8Array(digest))}'`
  )

/** Imports Scalar on demand, so that a bundle can leave its 3 MB out. */
const reference = (openapi: JsonObject, scopes: ReadonlyArray<string>) =>
  Effect.flatMap(
    Effect.promise(() => import("@effect/platform/HttpApiScalar")),
    ({ layerHttpLayerRouter }) => {
      const api = HttpApi.make("tenant").annotate(OpenApi.Override, openapi)
      return HttpLayerRouter.toHttpEffect(layerHttpLayerRouter({ api, path: "/docs", scalar: settings(scopes) }))
    }
  )

/**
 * Renders the page for a document, with these scopes selected in its log-in. Its policy allows its own scripts only, and
 * connections to this tenant only.
 */
export const page = Effect.fn(
  function*(openapi: JsonObject, scopes: ReadonlyArray<string>) {
    const response = yield* Effect.flatten(reference(openapi, scopes))
    const html = yield* Effect.promise(() => HttpServerResponse.toWeb(response).text())
    const scripts = Array.from(html.matchAll(/<script>([^]*?)<\/script>/g), ([, script = ""]) => hash(script))
    const hashes = yield* Effect.all(scripts)
    return HttpServerResponse.setHeaders(response, {
      "referrer-policy": "no-referrer",
      "content-security-policy": [
        "default-src 'none'",
        `script-src ${hashes.join(" ")} 'wasm-unsafe-eval'`, // Scalar renders nothing without WebAssembly; it needs no `eval`
        "style-src 'unsafe-inline'", // Scalar adds its style sheet and inline styles by script
        "img-src data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'"
      ].join("; ")
    })
  },
  Effect.scoped,
  Effect.orDie
)

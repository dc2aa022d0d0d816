/** Tests of the page at `/docs` as text: the document and the settings that it gives to Scalar. `test/docs` opens it in a browser. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Tenant from "../../../src/Tenant.js"
import { page } from "../../../src/tenant/docs/page.js"

const scopesOfRoutes = Tenant.routes.flatMap(({ scopes }) => scopes)

/** The text of the page. */
const html = page(Tenant.openapi, scopesOfRoutes).pipe(
  Effect.provideService(
    HttpServerRequest.HttpServerRequest,
    HttpServerRequest.fromWeb(new Request("https://tenant.test/docs"))
  ),
  Effect.flatMap((response) => Effect.promise(() => HttpServerResponse.toWeb(response).text()))
)

/** Parses the JSON between two texts of the page. */
const between = (before: string, after: string) =>
  Effect.map(html, (text) => {
    const start = text.indexOf(before)
    assert.notStrictEqual(start, -1, before)
    return JSON.parse(text.slice(start + before.length, text.indexOf(after, start)))
  })

const settings = between("dataset.configuration = JSON.stringify(", ")\n")

describe("the page at /docs", () => {
  it.effect("shows the tenant's OpenAPI document", () =>
    Effect.gen(function*() {
      const shown = yield* between("<script id=\"api-reference\" type=\"application/json\">", "</script>")
      assert.deepInclude(shown, Tenant.openapi) // the platform adds empty lists
    }))

  it.effect("turns off everything of Scalar's that is on another host", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* settings, {
        withDefaultFonts: false,
        telemetry: false,
        showToolbar: "never",
        hideClientButton: true,
        favicon: "data:,"
      })
    }))

  it.effect("shows no code for other clients, and downloads the document itself", () =>
    Effect.gen(function*() {
      assert.deepInclude(yield* settings, { hiddenClients: true, documentDownloadType: "direct" })
    }))

  it.effect("keeps wide parts from widening the page", () =>
    Effect.gen(function*() {
      const { customCss } = yield* settings
      assert.match(customCss, /\.references-rendered \{ overflow-x: clip \}/)
      assert.match(customCss, /\.scalar-toaster \{ width: auto !important \}/)
    }))

  it.effect("offers a log-in that the token endpoint accepts: every scope, the audience, credentials in the body", () =>
    Effect.gen(function*() {
      const { authentication } = yield* settings
      assert.strictEqual(authentication.preferredSecurityScheme, "clientCredentials")
      const { flows } = authentication.securitySchemes.clientCredentials
      assert.sameMembers(flows.clientCredentials.selectedScopes, scopesOfRoutes)
      assert.strictEqual(flows.clientCredentials["x-scalar-credentials-location"], "body")
      assert.deepStrictEqual(flows.clientCredentials["x-scalar-security-body"], { audience: "/api/v2/" })
    }))
})

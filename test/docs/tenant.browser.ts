/** The tenant's page at `/docs`: Swagger UI over its document. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import * as Tenant from "../../src/Tenant.js"
import { operations } from "../support/operations.js"
import { Browser, open, picture, type View, views } from "./browser.js"

const TenantLive = Layer.provideMerge(
  Tenant.layerServer,
  Layer.merge(Tenant.layer, NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
)

const { full } = Tenant.demoClients

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const docs = (view: View) =>
  HttpServer.addressFormattedWith((origin) => open(`${origin}/docs`, view)).pipe(
    Effect.tap(({ page }) => go(() => page.getByRole("button", { name: "Authorize" }).waitFor()))
  )

layer(Layer.merge(Browser.layer, TenantLive))("the page at /docs", (it) => {
  for (const view of views) {
    it.scoped(`names every operation, and loads nothing from other hosts (${view.name})`, () =>
      Effect.gen(function*() {
        const { page, problems } = yield* docs(view)
        yield* picture(page, `docs ${view.name}`)
        const text = yield* go(() => page.locator("body").innerText())
        for (const { endpoint: { name, path } } of operations) {
          assert.include(text.replaceAll("\u200b", ""), path.replace(/:([^/]+)/g, "{$1}"))
          assert.include(text, `${name}: `)
        }
        assert.deepStrictEqual(problems, [])
      }))
  }

  it.scoped("sends a call with a token that it got from the tenant", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* docs(views[0]!)
      const part = (name: string) => page.locator(`.opblock[id$="-${name}"]`)
      const execute = (name: string, body?: object) =>
        go(async () => {
          await part(name).locator(".opblock-summary-control").click()
          await part(name).getByRole("button", { name: "Try it out" }).click()
          if (body !== undefined) await part(name).locator("textarea").first().fill(JSON.stringify(body))
          const [response] = await Promise.all([
            page.waitForResponse((response) => response.request().resourceType() === "fetch"),
            part(name).getByRole("button", { name: "Execute" }).click()
          ])
          return response
        })
      const token = yield* execute("token", {
        grant_type: "client_credentials",
        client_id: full.id,
        client_secret: Redacted.value(full.secret),
        audience: "https://tenant.example.com/api/v2/"
      })
      const { access_token } = yield* go(() => token.json())
      yield* go(async () => {
        await page.getByRole("button", { name: "Authorize" }).click()
        await page.locator(".auth-container input").fill(access_token)
        await page.getByRole("button", { name: "Apply credentials" }).click()
        await page.getByRole("button", { name: "Close" }).click()
      })
      assert.strictEqual((yield* execute("listActionVersions")).status(), 200)
      const { requests } = yield* Tenant.Tenant
      assert.deepStrictEqual((yield* requests).map(({ operation, status }) => [operation, status]), [
        ["token", 200],
        ["listActionVersions", 200]
      ])
      assert.deepStrictEqual(problems, [])
    }))
})

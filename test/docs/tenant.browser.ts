/** The tenant's page at `/docs`: with a mouse, on a phone, in dark mode. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import type { Locator, Page } from "playwright-core"
import { scopesOf } from "../../src/Endpoint.js"
import * as Tenant from "../../src/Tenant.js"
import { operations } from "../support/operations.js"
import { Browser, open, overflow, picture, type View, views } from "./browser.js"

const TenantLive = Layer.provideMerge(
  Tenant.layerServer,
  Layer.merge(Tenant.layer(), NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
)

const { full, readsActions } = Tenant.demoClients
const desk = views.find(({ width }) => width === 1280)
if (desk === undefined) throw new Error("no view")

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const docs = (view: View) =>
  HttpServer.addressFormattedWith((origin) => open(`${origin}/docs`, view)).pipe(
    Effect.tap(({ page }) => go(() => page.getByRole("button", { name: "Authorize", exact: true }).waitFor()))
  )

/** Asks the tenant for a token, as the page's form does. */
const logIn = (page: Page, { id, secret }: Tenant.Client, given = Redacted.value(secret)) =>
  go(async () => {
    const form = page.getByRole("region", { name: "Authentication", exact: true })
    const type = async (field: Locator, text: string) => {
      await field.press("ControlOrMeta+a") // its editor selects all text itself; fill() may add to the old text
      await page.keyboard.insertText(text)
    }
    // The form reads its fields with a delay: a click right after typing may send the former values.
    for (;;) {
      await type(form.getByRole("textbox").nth(1), id)
      await type(form.getByRole("textbox", { name: "Client Secret" }), given)
      const [response] = await Promise.all([
        page.waitForResponse("**/oauth/token/"),
        form.getByRole("button", { name: "Authorize", exact: true }).click()
      ])
      const sent = new URLSearchParams(response.request().postData() ?? "")
      if (sent.get("client_id") === id && sent.get("client_secret") === given) return response.status()
    }
  })

/** Opens an operation, sends its example, and returns the shown response. */
const send = (page: Page, method: string, path: string) =>
  go(async () => {
    await page.getByRole("button", { name: `Test Request (${method.toLowerCase()} ${path})` }).click()
    const client = page.getByRole("dialog", { name: "API Client" })
    await client.getByRole("button", { name: /^Send / }).first().click()
    const response = client.getByRole("region", { name: "Response", exact: true })
    await response.getByText(/Status:/).first().waitFor({ state: "attached" })
    const text = await response.innerText()
    await client.getByRole("button", { name: "Close Client" }).click()
    return text
  })

const pathOf = ({ path }: { readonly path: string }) => `/api/v2${path.replace(/:([^/]+)/g, "{$1}")}`

layer(Layer.merge(Browser.layer, TenantLive))("the page at /docs", (it) => {
  for (const view of views) {
    it.scoped(`fits, and loads nothing from other hosts (${view.name})`, () =>
      Effect.gen(function*() {
        const { page, problems } = yield* docs(view)
        yield* picture(page, `tenant ${view.name}`)
        assert.strictEqual(yield* overflow(page), 0)
        const isDark = yield* go(() => page.evaluate(() => document.body.classList.contains("dark-mode")))
        assert.strictEqual(isDark, view.colorScheme === "dark")
        assert.strictEqual(yield* logIn(page, full), 200)
        assert.match(yield* send(page, "GET", "/api/v2/actions/actions/{actionId}/versions"), /200/)
        assert.deepStrictEqual(problems, [])
      }))
  }

  it.scoped("shows every operation with its path, scope and fields", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      // The page puts an empty space where a long word may break.
      const text = (yield* go(() => page.locator("main").innerText())).replaceAll("\u200b", "")
      for (const { endpoint } of operations) {
        const fields = Object.keys({ ...endpoint.params, ...endpoint.query, ...endpoint.payload })
        for (const part of [...scopesOf(endpoint), ...fields]) assert.include(text, part)
        const name = `Test Request (${endpoint.method.toLowerCase()} ${pathOf(endpoint)})`
        assert.strictEqual(yield* go(() => page.getByRole("button", { name }).count()), 1)
      }
    }))

  it.scoped("sends the example of each operation, and the tenant carries it out", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* docs(desk)
      yield* logIn(page, full)
      // In this order, what is read is there, and the event is redelivered before all others, and before its stream is deleted.
      const order = ["GET", "POST", "PATCH", "DELETE"]
      const sorted = operations.map(({ endpoint }) => endpoint).toSorted((a, b) =>
        order.indexOf(a.method) - order.indexOf(b.method) || a.name.localeCompare(b.name)
      )
      for (const endpoint of sorted) {
        assert.match(yield* send(page, endpoint.method, pathOf(endpoint)), /20[024] /, endpoint.name)
      }
      const { requests } = yield* Tenant.Tenant
      const served = (yield* requests).filter(({ operation }) => operation !== "token")
      assert.deepStrictEqual(served.map(({ operation }) => operation), sorted.map(({ name }) => name))
      assert.deepStrictEqual(problems, [])
    }).pipe(Effect.provide(Layer.fresh(TenantLive))))

  it.scoped("shows failures: a wrong secret, a missing scope", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      assert.strictEqual(yield* logIn(page, full, "wrong"), 401)
      assert.strictEqual(yield* logIn(page, readsActions), 200)
      assert.match(yield* send(page, "POST", "/api/v2/jobs/users-exports"), /403 Forbidden.*Insufficient scope/s)
    }))

  it.scoped("keeps the token in memory only", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      yield* logIn(page, full)
      const stored = yield* go(() =>
        page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie, location.href]))
      )
      assert.notMatch(stored, /eyJ|demo-full-secret/)
    }))
})

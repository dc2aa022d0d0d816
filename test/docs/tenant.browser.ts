/** The tenant's page at `/docs`: with a mouse, with the keyboard alone, on a phone, in dark mode. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import type { Page } from "playwright-core"
import { scopesOf } from "../../src/Endpoint.js"
import * as Tenant from "../../src/Tenant.js"
import { operations } from "../support/operations.js"
import { Browser, faint, open, overflow, picture, type View, views } from "./browser.js"

const key = "the-key-of-the-page"

const TenantLive = Layer.provideMerge(
  Tenant.layerServer,
  Layer.merge(
    Tenant.layerWith({ control: { key: Redacted.make(key) } }),
    NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 })
  )
)

const { full, readsActions } = Tenant.demoClients
const desk = views.find(({ width }) => width === 1280)
if (desk === undefined) throw new Error("no view")

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const docs = (view: View, fragment = "") =>
  HttpServer.addressFormattedWith((origin) => open(`${origin}/docs${fragment}`, view)).pipe(
    Effect.tap(({ page }) => go(() => page.getByRole("button", { name: "Expand all" }).waitFor()))
  )

const withKey = `#key=${encodeURIComponent(key)}`

const expandAll = (page: Page) => go(() => page.getByRole("button", { name: "Expand all" }).click())

/** Asks the tenant for a token, by the form. Returns the status of the response. */
const logIn = (page: Page, { id, secret }: Tenant.Client, given = Redacted.value(secret)) =>
  go(async () => {
    await page.getByRole("textbox", { name: "Client id" }).fill(id)
    await page.getByRole("textbox", { name: "Client secret" }).fill(given)
    const [response] = await Promise.all([
      page.waitForResponse("**/oauth/token/"),
      page.getByRole("button", { name: "Get a token", exact: true }).click()
    ])
    if (response.ok()) await page.getByRole("status", { name: "Token" }).getByText(id).waitFor()
    return response.status()
  })

const pathOf = ({ path }: { readonly path: string }) => `/api/v2${path.replace(/:([^/]+)/g, "{$1}")}`

/** The part of the page for an operation. */
const partOf = (page: Page, name: string) => page.locator(`article[id="${name}"]`)

/** Opens an operation, sends its example, and returns the shown response. */
const send = (page: Page, name: string) =>
  go(async () => {
    const part = partOf(page, name)
    const toggle = part.getByRole("heading", { level: 2 }).getByRole("button")
    if (await toggle.getAttribute("aria-expanded") !== "true") await toggle.click()
    await part.getByRole("button", { name: "Send", exact: true }).click()
    return part.getByRole("region", { name: "Response", exact: true }).innerText()
  })

layer(Layer.merge(Browser.layer, TenantLive))("the page at /docs", (it) => {
  for (const view of views) {
    it.scoped(`fits, can be read, and loads nothing from other hosts (${view.name})`, () =>
      Effect.gen(function*() {
        const { page, problems } = yield* docs(view)
        yield* picture(page, `docs ${view.name}`)
        assert.strictEqual(yield* overflow(page), 0)
        assert.strictEqual(yield* logIn(page, full), 200)
        assert.match(yield* send(page, "listActionVersions"), /^200/)
        yield* picture(page, `docs response ${view.name}`)
        yield* expandAll(page)
        yield* go(() => page.evaluate(() => document.querySelectorAll("details").forEach((each) => each.open = true)))
        assert.strictEqual(yield* overflow(page), 0)
        assert.deepStrictEqual(yield* faint(page), [])
        assert.deepStrictEqual(problems, [])
      }))
  }

  it.scoped("shows every operation with its path, scope and fields", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      yield* expandAll(page)
      for (const { endpoint } of operations) {
        const part = partOf(page, endpoint.name)
        const text = yield* go(() => part.innerText())
        const fields = Object.keys({ ...endpoint.params, ...endpoint.query, ...endpoint.payload })
        for (const each of [endpoint.method, pathOf(endpoint), ...scopesOf(endpoint), ...fields]) {
          assert.include(text, each)
        }
        const link = part.getByRole("link", { name: /^Link to / })
        assert.strictEqual(yield* go(() => link.getAttribute("href")), `#${endpoint.name}`)
      }
    }))

  it.scoped("shows each response with its meaning, schema and headers", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      yield* go(() => page.goto(`${page.url()}#getJob`))
      const part = partOf(page, "getJob")
      const row = (status: string) => part.locator(".responses > li").filter({ hasText: status })
      for (const status of ["200", "401", "429", "default"]) yield* go(() => row(status).locator("summary").click())
      assert.match(yield* go(() => row("200").innerText()), /application\/json.*status_details/s)
      assert.match(yield* go(() => row("429").innerText()), /Retry-After.*integer.*The seconds to wait/s)
      assert.match(yield* go(() => row("401").innerText()), /statusCode/)
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
      for (const endpoint of sorted) assert.match(yield* send(page, endpoint.name), /^20[024] /, endpoint.name)
      const { requests } = yield* Tenant.Tenant
      const served = (yield* requests).filter(({ operation }) => operation !== "token")
      assert.deepStrictEqual(served.map(({ operation }) => operation), sorted.map(({ name }) => name))
      assert.deepStrictEqual(problems, [])
    }).pipe(Effect.provide(Layer.fresh(TenantLive))))

  it.scoped("sends a body as a form, with nested fields in brackets", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      yield* logIn(page, full)
      yield* go(() => page.goto(`${page.url()}#createUsersExport`))
      yield* go(() =>
        partOf(page, "createUsersExport").getByRole("combobox", { name: "Sent as" }).selectOption(
          "application/x-www-form-urlencoded"
        )
      )
      assert.match(yield* send(page, "createUsersExport"), /^200/)
      const { requests } = yield* Tenant.Tenant
      const [last] = (yield* requests).slice(-1)
      assert.strictEqual(last?.contentType, "application/x-www-form-urlencoded")
      assert.deepInclude(last?.body, { format: "csv" })
    }).pipe(Effect.provide(Layer.fresh(TenantLive))))

  it.scoped("works with the keyboard alone: opens an operation, and Ctrl+Enter sends it", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      yield* logIn(page, full)
      const part = partOf(page, "listActions")
      yield* go(() => part.getByRole("heading", { level: 2 }).getByRole("button").focus())
      yield* go(() => page.keyboard.press("Enter"))
      for (let presses = 0; presses < 3; presses++) yield* go(() => page.keyboard.press("Tab"))
      assert.strictEqual(yield* go(() => page.evaluate(() => document.activeElement?.tagName)), "INPUT")
      yield* go(() => page.keyboard.press("Control+Enter"))
      const response = part.getByRole("region", { name: "Response", exact: true })
      assert.match(yield* go(() => response.innerText()), /^200[^]*x-ratelimit-remaining/)
      // On a button, the same keys do not press it as well.
      yield* go(() => part.getByRole("button", { name: "Send", exact: true }).focus())
      yield* go(() =>
        Promise.all([page.waitForResponse("**/api/v2/actions/actions**"), page.keyboard.press("Control+Enter")])
      )
      yield* send(page, "getAction")
      const { requests } = yield* Tenant.Tenant
      const served = (yield* requests).map(({ operation }) => operation)
      assert.deepStrictEqual(served, ["token", "listActions", "listActions", "getAction"])
    }).pipe(Effect.provide(Layer.fresh(TenantLive))))

  it.scoped("shows the response to the latest request, and cancels it", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      yield* logIn(page, full)
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "getJob", delay: "10 minutes", times: 2 })
      yield* go(() => page.goto(`${page.url()}#getJob`))
      const part = partOf(page, "getJob")
      const click = (name: string) => part.getByRole("button", { name, exact: true }).click()
      yield* go(() => Promise.all([page.waitForRequest("**/jobs/**"), click("Send")]))
      yield* go(() =>
        Promise.all([page.waitForEvent("requestfailed"), page.waitForRequest("**/jobs/**"), click("Send")])
      )
      assert.strictEqual(yield* go(() => part.getByText("Cancelled.").count()), 0)
      yield* go(() => click("Cancel"))
      yield* go(() => part.getByText("Cancelled.").waitFor())
      assert.strictEqual(yield* go(() => part.getByRole("button", { name: "Cancel", exact: true }).count()), 0)
      assert.match(yield* send(page, "getJob"), /^200/)
    }).pipe(Effect.provide(Layer.fresh(TenantLive))))

  it.scoped("gives a token for a client by a button, if it has the tenant's key", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* docs(desk, withKey)
      assert.notInclude(page.url(), "key")
      yield* go(() => page.getByRole("button", { name: full.id, exact: true }).click())
      yield* go(() => page.getByRole("status", { name: "Token" }).getByText(full.id).waitFor())
      assert.match(yield* send(page, "listActions"), /^200/)
      assert.notInclude(yield* go(() => page.content()), Redacted.value(full.secret))
      assert.deepStrictEqual(problems, [])
    }))

  it.scoped("copies a request as a command for curl, without the token", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      yield* go(() => page.context().grantPermissions(["clipboard-read", "clipboard-write"]))
      yield* logIn(page, full)
      yield* go(() => page.goto(`${page.url()}#getJob`))
      yield* go(() => partOf(page, "getJob").getByRole("button", { name: "Copy as curl" }).click())
      const copied = yield* go(() => page.evaluate(() => navigator.clipboard.readText()))
      const { origin } = new URL(page.url())
      assert.strictEqual(
        copied,
        `curl '${origin}/api/v2/jobs/${Tenant.demo.jobs[0].id}' \\\n  -H "authorization: Bearer $TOKEN"`
      )
    }))

  it.scoped("says why a request cannot be copied", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* docs(desk)
      yield* go(() => page.goto(`${page.url()}#createUsersExport`))
      const part = partOf(page, "createUsersExport")
      yield* go(() => part.getByRole("combobox", { name: "Sent as" }).selectOption("application/x-www-form-urlencoded"))
      yield* go(() => part.getByRole("textbox", { name: "Fields, typed as JSON" }).fill("{"))
      yield* go(() => part.getByRole("button", { name: "Copy as curl" }).click())
      yield* go(() => part.getByRole("button", { name: "Could not copy" }).waitFor())
      yield* go(() => part.getByRole("status").getByText(/this is not JSON\.$/).waitFor())
      assert.deepStrictEqual(problems, [])
    }))

  it.scoped("shows failures: a wrong secret, a missing scope", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      assert.strictEqual(yield* logIn(page, full, "wrong"), 401)
      yield* go(() => page.getByRole("status", { name: "Token" }).getByText(/^401/).waitFor())
      assert.strictEqual(yield* logIn(page, readsActions), 200)
      assert.match(yield* send(page, "createUsersExport"), /403 Forbidden.*Insufficient scope/s)
    }))

  it.scoped("keeps the token in memory only, and the tenant's key only in the tab", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk, withKey)
      const client = page.getByRole("button", { name: full.id, exact: true })
      yield* go(() => client.click())
      yield* go(() => page.getByRole("status", { name: "Token" }).getByText(full.id).waitFor())
      const stored = yield* go(() =>
        page.evaluate(() =>
          JSON.stringify([localStorage, document.cookie, location.href, history.state, sessionStorage])
        )
      )
      assert.strictEqual(stored, JSON.stringify([{}, "", page.url(), null, { "tenant-key": key }]))
      assert.notInclude(page.url(), "key")
      yield* go(() => page.reload())
      yield* go(() => client.waitFor())
      yield* go(() => page.getByRole("status", { name: "Token" }).getByText("No token yet").waitFor())
    }))
})

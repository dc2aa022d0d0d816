/** The tenant's page at `/docs`: with a mouse, with the keyboard alone, on a phone, in dark mode. */
import { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import type { Locator, Page } from "playwright-core"
import * as Tenant from "../../src/Tenant.js"
import { operations } from "../support/operations.js"
import { Browser, faint, open, overflow, picture, type View, views } from "./browser.js"

const TenantLive = Layer.provideMerge(
  Tenant.layerServer,
  Layer.merge(Tenant.layer(), NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
)

const { full, readsActions } = Tenant.demoClients
const [desk] = views.slice(-2)
if (desk === undefined) throw new Error("no view")

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const docs = (view: View, hash = "") =>
  HttpServer.addressFormattedWith((origin) => open(`${origin}/docs${hash}`, view)).pipe(
    Effect.tap(({ page }) => go(() => page.waitForSelector("details")))
  )

const logIn = (page: Page, { id, secret }: Tenant.Client, given = Redacted.value(secret)) =>
  go(async () => {
    await page.getByLabel("Client id").fill(id)
    await page.getByLabel("Client secret").fill(given)
    await page.getByRole("button", { name: "Get a token" }).click()
    await page.locator("#token :is(.good, .bad)").waitFor()
    return page.locator("#token").innerText()
  })

/** Sends the call and gives the shown response. */
const send = (section: Locator) =>
  go(async () => {
    await section.getByRole("button", { name: "Send" }).click()
    const response = section.locator(".response")
    await response.locator(".good, .bad").waitFor()
    return response.innerText()
  })

layer(Layer.merge(Browser.layer, TenantLive))("the page at /docs", (it) => {
  for (const view of views) {
    it.scoped(`is readable and fits (${view.name})`, () =>
      Effect.gen(function*() {
        const { page, problems } = yield* docs(view)
        yield* logIn(page, full)
        for (const summary of yield* go(() => page.locator("summary").all())) yield* go(() => summary.click())
        yield* send(page.locator("#listActionVersions"))
        yield* send(page.locator("#createUsersExport"))
        yield* picture(page, `tenant ${view.name}`)
        assert.strictEqual(yield* overflow(page), 0)
        assert.deepStrictEqual(yield* faint(page), [])
        assert.deepStrictEqual(problems, [])
      }))
  }

  it.scoped("shows every operation with its path, scope and fields", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      assert.strictEqual(yield* go(() => page.locator("details").count()), operations.length)
      for (const { endpoint } of operations) {
        const section = page.locator(`#${endpoint.name}`)
        yield* go(() => section.locator("summary").click())
        const text = yield* go(() => section.innerText())
        const path = `/api/v2${endpoint.path.replace(/:([^/]+)/g, "{$1}")}`
        const fields = Object.keys({ ...endpoint.params, ...endpoint.query, ...endpoint.payload })
        for (const part of [endpoint.method, path, endpoint.scope, ...fields]) assert.include(text, part)
      }
    }))

  it.scoped("sends the example of each operation, and the tenant carries it out", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* docs(desk)
      assert.include(yield* logIn(page, full), "read:users")
      // In this order, the event is redelivered before its stream is deleted.
      const names = operations.map(({ endpoint }) => endpoint.name).toSorted((a, b) => b.localeCompare(a))
      for (const name of names) {
        const section = page.locator(`#${name}`)
        yield* go(() => section.locator("summary").click())
        assert.match(yield* send(section), /^20[024] /, name)
      }
      assert.deepStrictEqual(problems, [])
    }).pipe(Effect.provide(Layer.fresh(TenantLive))))

  it.scoped("sends the body as a form, and sends nothing if it is not JSON", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk, "#createUsersExport")
      const { requests } = yield* Tenant.Tenant
      yield* logIn(page, full)
      const section = page.locator("#createUsersExport")
      yield* go(() => section.getByLabel("Content type").selectOption("application/x-www-form-urlencoded"))
      assert.match(yield* send(section), /^200 /)
      const last = (yield* requests).at(-1)
      assert.strictEqual(last?.contentType?.split(";")[0], "application/x-www-form-urlencoded")
      assert.deepInclude(last?.body, { fields: [{ name: "email" }, { name: "name", export_as: "Name" }], limit: 1000 })
      const before = (yield* requests).length
      yield* go(() => section.getByLabel("Body as JSON").fill("{"))
      yield* go(() => section.getByRole("button", { name: "Send" }).click())
      yield* go(() => section.getByText("The request was not sent:").waitFor())
      assert.lengthOf(yield* requests, before)
    }))

  it.scoped("shows failures: a wrong secret, no token, a missing scope, a rate limit", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk, "#listActionVersions")
      const section = page.locator("#listActionVersions")
      assert.match(yield* send(section), /^401 .*Missing authentication/s)
      assert.match(yield* logIn(page, full, "wrong"), /^401 .*invalid_client/s)
      yield* logIn(page, readsActions)
      assert.match(yield* send(section), /^200 .*x-ratelimit-remaining/s)
      const exports = page.locator("#createUsersExport")
      yield* go(() => exports.locator("summary").click())
      assert.match(yield* send(exports), /^403 .*Insufficient scope/s)
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ status: 429, headers: { "retry-after": "7" } })
      assert.match(yield* send(section), /^429 .*retry-after\s+7/s)
    }))

  it.scoped("drops its token after a response without one, and shows that response", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* docs(desk, "#listActionVersions")
      const { injectFault, requests } = yield* Tenant.Tenant
      for (const body of ["no JSON", null, [], { access_token: 7 }]) {
        yield* logIn(page, full)
        yield* injectFault({ operation: "token", status: 200, body })
        assert.match(yield* logIn(page, full), /^200 OK.*No token\.$/s)
      }
      yield* injectFault({ operation: "token", status: 200, body: { access_token: "a.b.c" } })
      assert.match(yield* logIn(page, full), /^Got a token\..*unknown/s)
      assert.match(yield* send(page.locator("#listActionVersions")), /^401 .*Invalid/s)
      assert.strictEqual((yield* requests).at(-1)?.operation, "listActionVersions")
      assert.lengthOf(problems, 1) // the 401
    }).pipe(Effect.provide(Layer.fresh(TenantLive))))

  it.scoped("sends nothing to a path other than the shown one", () =>
    Effect.gen(function*() {
      const { page, problems } = yield* docs(desk, "#deleteEventStream")
      const { requests } = yield* Tenant.Tenant
      const before = (yield* requests).length
      const section = page.locator("#deleteEventStream")
      for (const [id, reason] of [["..", "id cannot be .."], [".", "id cannot be ."], ["\ud800", "URI malformed"]]) {
        yield* go(() =>
          section.locator("input").evaluate((input, id) => {
            const field = input as HTMLInputElement
            field.value = id
          }, id ?? "")
        )
        yield* go(() => section.getByRole("button", { name: "Send" }).click())
        yield* go(() => section.getByText(`The request was not sent: ${reason}`, { exact: true }).waitFor())
      }
      assert.lengthOf(yield* requests, before)
      assert.deepStrictEqual(problems, [])
    }))

  it.scoped("keeps the token in memory only, and forgets it on request", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk, "#listActionVersions")
      yield* logIn(page, full)
      const kept = () =>
        go(() =>
          page.evaluate(() =>
            JSON.stringify([localStorage, sessionStorage, document.cookie, location.href]) + document.body.innerHTML
          )
        )
      assert.notMatch(yield* kept(), /eyJ|demo-full-secret/)
      yield* go(() => page.getByRole("button", { name: "Forget the token" }).click())
      assert.match(yield* send(page.locator("#listActionVersions")), /^401 /)
      assert.strictEqual(yield* go(() => page.getByLabel("Client secret").inputValue()), "")
    }))

  it.scoped("works with the keyboard alone, and shows the focus", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk)
      const press = (key: string, times = 1) =>
        go(async () => {
          for (let i = 0; i < times; i++) await page.keyboard.press(key)
        })
      const focused = () => go(() => page.evaluate(() => document.activeElement?.textContent ?? ""))
      yield* press("Tab", 2) // the first is the link to the document
      yield* go(() => page.keyboard.type(full.id))
      yield* press("Tab")
      yield* go(() => page.keyboard.type(Redacted.value(full.secret)))
      yield* press("Enter")
      yield* go(() => page.locator("#token .good").waitFor())
      for (let i = 0; i < 20 && !(yield* focused()).includes("/versions"); i++) yield* press("Tab")
      assert.isTrue(
        yield* go(() => page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle !== "none"))
      )
      yield* press("Enter")
      for (let i = 0; i < 20 && (yield* focused()) !== "Send"; i++) yield* press("Tab")
      yield* press("Enter")
      yield* go(() => page.locator("#listActionVersions .response .good").waitFor())
    }))

  it.scoped("opens the operation named in its address", () =>
    Effect.gen(function*() {
      const { page } = yield* docs(desk, "#redeliverEvent")
      assert.isTrue(
        yield* go(() => page.locator("#redeliverEvent").evaluate((element) => element.hasAttribute("open")))
      )
      assert.strictEqual(yield* go(() => page.locator("details[open]").count()), 1)
      const { page: other, problems } = yield* docs(desk, "#%")
      assert.strictEqual(yield* go(() => other.locator("details").count()), operations.length)
      assert.deepStrictEqual(problems, [])
    }))
})

/** A tenant with its live page, and a program that calls it. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServer from "@effect/platform/HttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer } from "node:http"
import type { Page } from "playwright-core"
import * as Tenant from "../../../src/Tenant.js"
import { open, type View, views } from "../browser.js"

/** The view of a desktop screen. */
export const desk: View = views.find(({ width }) => width === 1280) ??
  { name: "desktop", width: 1280, colorScheme: "light" }

export const key = "the-key-of-the-page"

export const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const { full } = Tenant.demoClients

interface CallOptions {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Serves a tenant until the scope is closed. */
export const serve = (options: Tenant.Options = {}, port = 0) =>
  Effect.gen(function*() {
    const server = createServer()
    const context = yield* Layer.build(
      Layer.provideMerge(
        Tenant.layerServer,
        Layer.merge(
          Tenant.layerWith({ control: { key: Redacted.make(key) }, ...options }),
          NodeHttpServer.layer(() => server, { host: "127.0.0.1", port })
        )
      )
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
    const tenant = Context.get(context, Tenant.Tenant)
    const { address } = Context.get(context, HttpServer.HttpServer)
    if (address._tag !== "TcpAddress") return yield* Effect.dieMessage("no port")
    const origin = `http://127.0.0.1:${address.port}`
    /** A token; it is asked for by the first call. */
    const token = yield* Effect.cached(go(async () => {
      const response = await fetch(`${origin}/oauth/token/`, {
        method: "POST",
        body: new URLSearchParams({
          grant_type: "client_credentials",
          client_id: full.id,
          client_secret: Redacted.value(full.secret),
          audience: "/api/v2/"
        })
      })
      return String((await response.json()).access_token)
    }))
    /** Sends a call and returns its status; 0 if the connection broke. */
    const call = (path: string, { body, headers, method = "GET" }: CallOptions = {}) =>
      Effect.flatMap(token, (token) =>
        go(() =>
          fetch(`${origin}/api/v2${path}`, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              ...(body !== undefined && { "content-type": "application/json" }),
              ...headers
            },
            ...(body !== undefined && { body: JSON.stringify(body) })
          }).then(async (response) => {
            await response.text()
            return response.status
          }, () => 0)
        ))
    return { tenant, origin, port: address.port, token, call }
  })

/** Opens the live page, and waits until it is connected. */
export const openPage = (origin: string, view: View) =>
  Effect.tap(
    open(`${origin}/#key=${encodeURIComponent(key)}`, view),
    ({ page }) => isLive(page)
  )

export const connection = (page: Page) => page.getByRole("status", { name: "Connection" })

export const isLive = (page: Page) => go(() => connection(page).getByText("Live").waitFor())

export const card = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

export const row = (page: Page, text: string | RegExp) =>
  page.getByRole("grid", { name: "Requests" }).getByRole("row").filter({ hasText: text })

/** Clicks a button, and waits for the sentence that the page then says. */
export const act = (page: Page, part: string, button: string | RegExp, said: RegExp) =>
  go(async () => {
    await card(page, part).getByRole("button", { name: button }).first().click()
    await page.getByRole("status", { name: "Result" }).getByText(said).waitFor()
  })

/** The calls left in a bucket, as its gauge shows them. */
export const left = (page: Page, bucket: string) =>
  go(async () => Number(await card(page, bucket).locator("[data-left]").getAttribute("data-left")))

/** Tests that the output of `npm run docs` is complete, has no broken links, and is readable on any screen. */
import { type HttpApp, HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { dirname, join, normalize, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { guides, projectPages } from "../../.ci/docs/guides.js"
import { failuresOf } from "../../.ci/docs/operationPage.js"
import { scopesOf } from "../../src/Endpoint.js"
import { IdentityClient, RateLimiter, TokenProvider } from "../../src/index.js"
import * as Tenant from "../../src/Tenant.js"
import { operations } from "../support/operations.js"
import { projectErrors } from "../support/typeCheck.js"
import { Browser, change, faint, open, overflow, picture, type View, views } from "./browser.js"

const made = fileURLToPath(new URL("../../.docs/", import.meta.url))
const root = join(made, "html")

const files = readdirSync(root, { recursive: true, encoding: "utf8" }).map((file) => file.replaceAll("\\", "/"))
const pages = files.filter((file) => /\.(?:html|svg)$/.test(file))

const unescaped = (text: string) =>
  text.replace(/&quot;/g, "\"").replace(/&#39;|&#x27;/g, "'").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(
    /&amp;/g,
    "&"
  )

/** Returns all values of an attribute. */
const attributes = (html: string, name: string): ReadonlyArray<string> =>
  [...html.matchAll(new RegExp(`<[a-z][^>]*\\s${name}="([^"]*)"`, "gi"))].map(([, value]) => unescaped(value ?? ""))

const sources = new Map(pages.map((page) => [page, readFileSync(join(root, page), "utf8")]))
const ids = new Map([...sources].map(([page, html]) => [page, new Set(attributes(html, "id"))]))

/** Returns the target of a link, if it is in the reference. */
const target = (page: string, link: string) => {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return undefined
  const [path = "", hash = ""] = link.split("#").map((part) => decodeURIComponent(part))
  const file = path === "" ? page : normalize(join(dirname(page), path.split("?")[0] ?? ""))
  return { file: file.endsWith("/") || file === "." ? join(file, "index.html") : file, hash }
}

describe("the reference", () => {
  it("has no broken links", () => {
    let count = 0
    const broken = [...sources].flatMap(([page, html]) =>
      [...attributes(html, "href"), ...attributes(html, "src")].flatMap((link) => {
        const found = target(page, link)
        if (found === undefined) return []
        count++
        const exists = files.includes(found.file) &&
          (found.hash === "" || ids.get(found.file)?.has(found.hash) === true)
        return exists ? [] : [`${page}: ${link}`]
      })
    )
    assert.isAbove(count, 1000)
    assert.deepStrictEqual(broken, [])
  })

  it("loads nothing from other origins", () => {
    for (const [page, html] of sources) {
      const loaded = [
        ...attributes(html, "src"),
        ...[...html.matchAll(/<link[^>]+href="([^"]*)"/g)].map(([, href]) => href)
      ]
      for (const link of loaded) assert.notMatch(link ?? "", /^(?:[a-z]+:)?\/\//i, page)
    }
  })

  it("contains no path of the machine that built it", () => {
    for (const html of sources.values()) assert.notInclude(html, process.cwd())
  })

  it("has no references to the contract, which its readers do not have", () => {
    for (const [page, html] of sources) assert.notMatch(html, /contract:/, page)
  })

  it("has a page for each module, with a line for each export", async () => {
    const modules = readdirSync("src").filter((file) => file.endsWith(".ts"))
    assert.isAbove(modules.length, 10)
    for (const file of modules) {
      const module = file === "index.ts"
        ? "effect-identity-client"
        : `effect-identity-client/${file.replace(".ts", "")}`
      const html = sources.get(`${module}.html`) ?? ""
      const rows = html.matchAll(/<dt class="tsd-member-summary"[^>]*>([^]*?)<\/dt><dd[^>]*>([^]*?)<\/dd>/g)
      const lines = new Map(Array.from(rows, ([, name = "", text = ""]) => [
        name.replace(/<[^>]+>/g, "").replace(/\s*→.*/, ""),
        text.replace(/<[^>]+>/g, "").trim()
      ]))
      const exported = Object.keys(await import(join(process.cwd(), "src", file)))
      assert.includeMembers([...lines.keys()], exported, module)
      for (const [name, line] of lines) assert.match(line, /\w+ \w+/, `${module}: ${name}`)
    }
  })

  for (const { endpoint } of operations) {
    const { error, method, name, params, path, payload, query } = endpoint

    it(`describes ${name} as declared`, () => {
      const text = unescaped((sources.get(`${name}.html`) ?? "").replace(/<[^>]+>/g, ""))
      assert.include(text, `${method} ${path}`)
      for (const scope of scopesOf(endpoint)) assert.include(text, scope)
      for (const field of Object.keys({ ...params, ...query, ...payload })) assert.include(text, field)
      for (const [index, failure] of failuresOf(endpoint).entries()) {
        assert.include(text, `Errors.${failure}, ${error[index]?.status}:`)
      }
      for (const [, limit] of JSON.stringify(limits[name] ?? []).matchAll(/"([^"]+)"/g)) {
        assert.include(text, limit ?? "")
      }
    })
  }
})

/** Limits of the contract. */
const limits: Readonly<Record<string, ReadonlyArray<string>>> = {
  createUsersExport: ["^con_[A-Za-z0-9]{16}$", "json or csv", "an integer of at least 1", "at most 100 characters"],
  updateTokenExchangeProfile: ["3 to 50 characters", "a URI of 8 to 100 characters", "at least 1 of these fields"],
  listActionVersions: ["an integer of at least 0"],
  redeliverEvent: ["exactly 26 characters"],
  deleteEventStream: ["exactly 26 characters"]
}

describe("the examples", () => {
  const example = (name: string) => join(made, "examples", `${name}.ts`)

  it("compile, and leave failures in their types", () => {
    const text = [
      "import type { Effect } from \"effect\"",
      "import type { IdentityClient } from \"effect-identity-client\"",
      ...operations.map(({ endpoint: { name } }) => `import { program as ${name} } from "./${name}.js"`),
      "export const all: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }, IdentityClient.IdentityClient>> = [",
      operations.map(({ endpoint: { name } }) => name).join(", "),
      "]"
    ].join("\n")
    const [check, project] = [join(made, "examples", "check.ts"), join(made, "examples", "tsconfig.json")]
    try {
      writeFileSync(check, text)
      writeFileSync(project, JSON.stringify({ extends: "../../tsconfig.json", include: [], files: ["check.ts"] }))
      assert.deepStrictEqual(projectErrors(project), [])
    } finally {
      rmSync(check, { force: true })
      rmSync(project, { force: true })
    }
    for (const { endpoint: { name } } of operations) {
      assert.include(unescaped((sources.get(`${name}.html`) ?? "").replace(/<[^>]+>/g, "")), `${name}({`)
    }
  }, 60_000)

  for (const { endpoint: { name } } of operations) {
    it.effect(`${name} succeeds on the demo tenant`, () =>
      Effect.gen(function*() {
        const { program } = yield* Effect.promise((): Promise<{
          readonly program: Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>
        }> => import(example(name)))
        const real = yield* Effect.console
        yield* Effect.withConsole(program, { ...real, log: () => Effect.void })
        const { requests } = yield* Tenant.Tenant
        assert.deepStrictEqual((yield* requests).map(({ operation }) => operation), ["token", name])
        for (const { status } of yield* requests) assert.include([200, 202, 204], status)
      }).pipe(Effect.provide(TenantClient)))
  }
})

const { full } = Tenant.demoClients

const TenantClient = IdentityClient.layer({ baseUrl: "https://tenant.example.com/api/v2" }).pipe(
  Layer.provide(RateLimiter.layerUnlimited),
  Layer.provide(TokenProvider.layerClientCredentials({
    domain: "tenant.example.com",
    clientId: full.id,
    clientSecret: full.secret
  })),
  Layer.provide(Tenant.layerHttpClient),
  Layer.provideMerge(Tenant.layer)
)

const types: Readonly<Record<string, string>> = {
  css: "text/css",
  html: "text/html",
  js: "text/javascript",
  svg: "image/svg+xml"
}

/** Serves the files. */
const app: HttpApp.Default = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
  const path = decodeURIComponent(url.split("?")[0] ?? "").replace(/\/$/, "/index.html").slice(1)
  return files.includes(path)
    ? HttpServerResponse.uint8Array(readFileSync(join(root, path)), {
      contentType: types[path.split(".").at(-1) ?? ""]
    })
    : HttpServerResponse.empty({ status: path === "favicon.ico" ? 204 : 404 })
})

const Served = Layer.provideMerge(
  HttpServer.serve(app),
  NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 })
)

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const see = (path: string, view: View) => HttpServer.addressFormattedWith((origin) => open(`${origin}/${path}`, view))

layer(Layer.merge(Browser.layer, Served))("in a browser, the reference", (it) => {
  const shown = [
    "index.html",
    ...[...guides, ...operations.map(({ endpoint }) => endpoint.name), ...Object.keys(projectPages)].map((name) =>
      `${name}.html`
    ),
    "effect-identity-client/RateLimiter.html",
    "effect-identity-client/Errors/RateLimited.html",
    "effect-identity-client/Tenant/Options.html"
  ]
  for (const path of shown) {
    it.scoped(`${path} is readable and fits`, () =>
      Effect.gen(function*() {
        const [first] = views
        if (first === undefined) return assert.fail("no view")
        const { page, problems } = yield* see(path, first)
        yield* go(() => page.waitForFunction(() => document.body.style.display !== "none"))
        for (const view of views) {
          yield* change(page, view)
          yield* picture(page, `reference ${path} ${view.name}`)
          assert.strictEqual(yield* overflow(page), 0, view.name)
          assert.deepStrictEqual(yield* faint(page), [], view.name)
          if (path === "performance.html") {
            const chart = yield* go(() =>
              page.locator(".col-content img").first().evaluate((image) => [
                (image as HTMLImageElement).naturalWidth,
                image.clientWidth
              ])
            )
            assert.isTrue(chart.every((width) => width > 300))
            assert.isBelow(chart[1] ?? 0, view.width)
          }
          // Code for maintainers may scroll.
          if (view.width === 1280 && !Object.keys(projectPages).some((name) => path === `${name}.html`)) {
            const wide = yield* go(() =>
              page.locator(".tsd-typography pre").evaluateAll((blocks) =>
                blocks.flatMap((block) => block.scrollWidth > block.clientWidth ? [block.textContent ?? ""] : [])
              )
            )
            assert.deepStrictEqual(wide, [], view.name)
          }
        }
        assert.deepStrictEqual(problems, [])
      }))
  }

  for (const view of views) {
    it.scoped(`finds an operation by the search box, with links to its failures (${view.name})`, () =>
      Effect.gen(function*() {
        const { page, problems } = yield* see("index.html", view)
        yield* go(() => page.locator("#tsd-search-trigger").click())
        yield* go(() => page.locator("#tsd-search-input").fill("redeliverEvent"))
        yield* go(() => page.locator("#tsd-search-results a").first().waitFor())
        const found = yield* go(() =>
          page.locator("#tsd-search-results a").evaluateAll((links) =>
            links.map((link) => (link as HTMLAnchorElement).pathname)
          )
        )
        assert.include(found, "/redeliverEvent.html")
        assert.include(found, "/effect-identity-client/redeliverEvent.html")
        yield* go(() => page.locator("#tsd-search-results a[href$=\"/redeliverEvent.html\"]").first().click())
        yield* go(() => page.waitForURL("**/redeliverEvent.html"))
        yield* go(() => page.goBack())
        yield* go(() => page.locator(".tsd-typography a[href=\"redeliverEvent.html\"]").click())
        yield* go(() => page.locator(".tsd-typography a", { hasText: "Errors.Conflict" }).click())
        yield* go(() => page.waitForURL("**/effect-identity-client/Errors/Conflict.html"))
        assert.deepStrictEqual(problems, [])
      }))
  }

  it.scoped.each(["Retry-After", "private", "not global"])(
    "finds %s in guides and descriptions",
    (text) =>
      Effect.gen(function*() {
        const { page } = yield* see("index.html", { name: "desktop", width: 1280, colorScheme: "light" })
        yield* go(() => page.locator("#tsd-search-trigger").click())
        yield* go(() => page.locator("#tsd-search-input").fill(text))
        yield* go(() => page.locator("#tsd-search-results a").first().waitFor())
        const found = yield* go(() =>
          page.locator("#tsd-search-results a").evaluateAll((links) =>
            links.map((link) => decodeURIComponent((link as HTMLAnchorElement).pathname.slice(1)))
          )
        )
        const texts = found.map((file) => (sources.get(file) ?? "").replace(/<[^>]+>/g, "").toLowerCase())
        assert.isTrue(texts.some((found) => found.includes(text.toLowerCase())), found.join())
      })
  )

  it.scoped("lists guides, operations and modules by short names, and describes each export of a module", () =>
    Effect.gen(function*() {
      const { page } = yield* see("effect-identity-client/RateLimiter.html", {
        name: "desktop",
        width: 1280,
        colorScheme: "light"
      })
      const names = page.locator("#tsd-nav-container > ul > li, #tsd-nav-container li > details > summary")
      yield* go(() => names.first().waitFor({ state: "attached" }))
      const groups = (yield* go(() => names.allTextContents())).map((name) => name.trim())
      assert.includeMembers(groups, ["Guides", "Operations", "Modules", "RateLimiter"])
      assert.isEmpty(groups.filter((name) => name.startsWith("effect-identity-client/")))
      const text = yield* go(() => page.locator(".col-content").innerText())
      for (const line of ["Lets every call start at once", "Applies one known limit to all calls"]) {
        assert.include(text, line)
      }
    }))

  it.scoped("has no broken links in its navigation", () =>
    Effect.gen(function*() {
      const [view] = views.slice(-1)
      if (view === undefined) return assert.fail("no view")
      const { page } = yield* see("index.html", view)
      yield* go(() => page.locator("#tsd-nav-container a").first().waitFor({ state: "attached" }))
      const links = yield* go(() =>
        page.locator("#tsd-nav-container a[href]").evaluateAll((links) =>
          links.map((link) => (link as HTMLAnchorElement).pathname.slice(1))
        )
      )
      assert.isAbove(links.length, 100)
      assert.deepStrictEqual(links.filter((link) => !files.includes(relative("", decodeURIComponent(link)))), [])
    }))
})

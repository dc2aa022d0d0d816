/** Tests of the HTML of the live page, and of the script and style sheet in it. `test/docs` opens it in a browser. */
import { HttpClient, HttpServerResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as esbuild from "esbuild"
import { fileURLToPath } from "node:url"
import { endpoints } from "../../../src/tenant/control/http/api.js"
import { build } from "../../../src/tenant/page/build.js"
import { bundle } from "../../../src/tenant/page/bundle.js"
import { page } from "../../../src/tenant/page/html.js"
import { itInProcess } from "../support/calls.js"
import { itControlled, origin } from "../support/control.js"

const folder = fileURLToPath(new URL("../../../src/tenant/page", import.meta.url))

const get = (path: string) => HttpClient.get(`${origin}${path}`)

describe("the live page", () => {
  it.effect("has its title, an icon, and nothing in its body but the script and the addresses that it calls", () =>
    Effect.gen(function*() {
      const addresses = JSON.stringify(
        Object.fromEntries(endpoints.map(({ method, name, path }) => [name, { method, path }]))
      )
      const response = HttpServerResponse.toWeb(yield* page)
      const html = yield* Effect.promise(() => response.text())
      assert.deepStrictEqual(
        html.replace(/<style>[^]*?<\/style>/, "<style>…</style>").replace(
          /<script>[^]*?<\/script>/,
          "<script>…</script>"
        )
          .replace(/data:image\/svg\+xml,[^"]*/, "data:…").split("\n"),
        [
          "<!doctype html>",
          "<html lang=\"en\">",
          "<head>",
          "<meta charset=\"utf-8\">",
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
          "<meta name=\"color-scheme\" content=\"light dark\">",
          "<title>Tenant</title>",
          "<link rel=\"icon\" href=\"data:…\">",
          "<style>…</style>",
          "</head>",
          "<body>",
          "<noscript>This page needs JavaScript.</noscript>",
          `<script type="application/json" id="addresses">${addresses}</script>`,
          "<script>…</script>",
          "</body>",
          "</html>",
          ""
        ]
      )
      const [, icon = ""] = /data:image\/svg\+xml,([^"]*)/.exec(html) ?? []
      assert.strictEqual(
        decodeURIComponent(icon),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">" +
          "<rect width=\"16\" height=\"16\" rx=\"4\" fill=\"#4056c6\"/>" +
          "<path d=\"M4 3h8v10H4z\" fill=\"#fff\" opacity=\".35\"/><path d=\"M4 6h8v7H4z\" fill=\"#fff\"/></svg>"
      )
    }))
})

itControlled("the pages are served as new and by their type", () =>
  Effect.gen(function*() {
    for (const [path, title] of [["/", "Tenant"], ["/docs", "Embedded tenant of an identity service Documentation"]]) {
      const { headers, text } = yield* get(String(path))
      assert.include(yield* text, `<title>${title}</title>`)
      assert.deepInclude(headers, { "cache-control": "no-store", "x-content-type-options": "nosniff" })
    }
  }))

itInProcess("the page at / is not served without control", () =>
  Effect.gen(function*() {
    assert.strictEqual((yield* get("/")).status, 404)
    assert.strictEqual((yield* get("/docs")).status, 200)
  }))

describe("a bundle", () => {
  it("is minified, needs no other file, and keeps its characters", async () => {
    const { script, style } = await build(esbuild, folder)
    assert.deepStrictEqual(await bundle(), { script, style })
    for (const text of [script, style]) {
      assert.isAbove(text.length, 1000)
      assert.isAbove(text.length / text.split("\n").length, 1000, "one line, but for those of texts")
      assert.strictEqual(text, text.trim())
    }
    assert.match(script, /^"use strict";\(\(\)=>\{[^]*\}\)\(\);$/)
    assert.notMatch(script, /\brequire\(|\bimport\b/)
    assert.match(script, /[^\0-\x7f]/, "as they are, not as \\u escapes")
    assert.match(style, /^[^{}<>]+\{/)
  })
})

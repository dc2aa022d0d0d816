/** The tenant's live page: requests, gauges and their states, at the widths of a phone and a desktop. */
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Tenant from "../../src/Tenant.js"
import { keyHeader } from "../../src/tenant/control/messages.js"
import { Browser, change, faint, open, overflow, picture, views } from "./browser.js"
import { card, connection, desk, go, isLive, key, left, openPage, row, serve } from "./support/liveTenant.js"

const { demo } = Tenant
const [stream] = demo.streams

/** Looks at the page in all views: nothing is too wide or too faint. */
const look = Effect.fn(function*(page: Parameters<typeof overflow>[0], name: string) {
  for (const view of views) {
    yield* change(page, view)
    yield* Effect.sleep("300 millis")
    yield* picture(page, `live ${name} ${view.name}`)
    assert.strictEqual(yield* overflow(page), 0, view.name)
    assert.deepStrictEqual(yield* faint(page), [], view.name)
  }
})

layer(Browser.layer, { excludeTestServices: true })("the live page", (it) => {
  it.scoped("fits and can be read while it is empty, in all views", () =>
    Effect.gen(function*() {
      const empty = yield* serve({ seed: {} })
      const { page, problems } = yield* openPage(empty.origin, desk)
      yield* go(() => page.getByText("No request yet.").waitFor())
      for (const text of ["No token yet.", "No job yet.", "No event stream."]) {
        assert.strictEqual(yield* go(() => page.getByText(text).count()), 1)
      }
      yield* look(page, "empty")
      assert.deepStrictEqual(problems, [])
    }))

  it.scoped("fits and can be read while it is busy, in all views", () =>
    Effect.gen(function*() {
      const { call, origin, tenant } = yield* serve({
        buckets: { tenant: { burst: 50, refill: 30, per: "1 second" } },
        durations: { export: "20 seconds" }
      })
      const { page, problems } = yield* openPage(origin, desk)
      yield* call("/jobs/users-exports", { method: "POST", body: { connection_id: demo.connections[0].id } })
      yield* tenant.injectFault({ status: 503, times: 3 })
      yield* tenant.injectFault({ operation: "getAction", delay: "2 seconds", times: 5 })
      for (let bursts = 0; bursts < 3; bursts++) {
        yield* Effect.all(Array.from({ length: 40 }, () => call("/actions/actions?page=0")), { concurrency: 20 })
        yield* Effect.sleep("1 second")
      }
      for (let calls = 0; calls < 40; calls++) {
        yield* call(calls % 9 === 0 ? "/jobs/none" : `/event-streams/${stream.id}`)
        yield* Effect.sleep("40 millis")
      }
      yield* call(`/event-streams/${stream.id}/redeliver/${stream.events[0].id}`, { method: "POST" })
      yield* go(() => row(page, "/redeliver/").first().click())
      yield* look(page, "busy")
      assert.deepStrictEqual(problems, [])
    }))

  it.scoped("shows a request within 200 ms, the newest first", () =>
    Effect.gen(function*() {
      const { call, origin } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      const delays: Array<number> = []
      for (const name of ["one", "two", "three", "four", "five"]) {
        const start = yield* Clock.currentTimeMillis
        const shown = go(() =>
          page.waitForFunction((name) => document.querySelector(".rows")?.textContent?.includes(name), name)
        )
        yield* Effect.all([call(`/jobs/job_${name}`), shown], { concurrency: 2 })
        delays.push((yield* Clock.currentTimeMillis) - start)
      }
      const rows = yield* go(() => page.getByRole("grid").getByRole("row").allInnerTexts())
      const names = rows.flatMap((text) => /job_(\w+)/.exec(text)?.[1] ?? [])
      assert.deepStrictEqual(names, ["five", "four", "three", "two", "one"])
      assert.isBelow(Math.min(...delays), 200)
    }))

  it.scoped("shows what was sent and received, with secrets masked, and copies it for curl", () =>
    Effect.gen(function*() {
      const { call, origin, token } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      yield* go(() => page.context().grantPermissions(["clipboard-read", "clipboard-write"]))
      const connection_id = demo.connections[0].id
      yield* call("/jobs/users-exports", { method: "POST", body: { connection_id }, headers: { "x-mine": "it's" } })
      yield* go(() => row(page, "/jobs/users-exports").click())
      const details = page.getByRole("region", { name: /^Request #/ })
      yield* go(() => details.getByText("x-mine").waitFor())
      const text = yield* go(() => details.innerText())
      for (const part of ["demo-full", connection_id, "x-ratelimit-remaining", "users_export", "200"]) {
        assert.include(text, part)
      }
      yield* go(() => details.getByRole("button", { name: "Copy as curl" }).click())
      const copied = yield* go(() => page.evaluate(() => navigator.clipboard.readText()))
      assert.match(copied, /^curl -X POST 'http:\/\/127\.0\.0\.1:\d+\/api\/v2\/jobs\/users-exports' \\\n/)
      assert.include(copied, "-H \"authorization: Bearer $TOKEN\"")
      assert.include(copied, "-H 'x-mine: it'\\''s'")
      assert.include(copied, `--data-raw '{"connection_id":"${connection_id}"}'`)
      yield* go(() => row(page, "/oauth/token/").click())
      yield* go(() => details.getByText("grant_type").first().waitFor())
      const all = yield* go(() => page.content())
      const [, , signature = ""] = (yield* token).split(".")
      assert.notInclude(all, signature)
      assert.notInclude(all, Redacted.value(Tenant.demoClients.full.secret))
    }))

  it.scoped("works with the keyboard alone, and names the request that a retry is for", () =>
    Effect.gen(function*() {
      const { call, origin, tenant, token } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      yield* token
      yield* tenant.injectFault({ status: 503 })
      yield* call("/actions/actions")
      yield* call("/actions/actions")
      yield* go(() => row(page, /retry 1 of #2/).waitFor())
      yield* go(() => page.getByRole("grid").focus())
      yield* go(() => page.keyboard.press("ArrowDown"))
      yield* go(() => page.keyboard.press("ArrowDown"))
      yield* go(() => page.keyboard.press("Enter"))
      yield* go(() => page.getByRole("heading", { name: "Request #2" }).waitFor())
      yield* go(() => page.getByRole("region", { name: "Request #2" }).getByText("503").first().waitFor())
      yield* go(() => page.keyboard.press("Escape"))
      assert.strictEqual(yield* go(() => page.getByRole("region", { name: "Request #2" }).count()), 0)
      yield* go(() => page.waitForFunction(() => document.activeElement?.getAttribute("role") === "grid"))
    }))

  it.scoped("moves the gauges with a paced burst of 300 calls", () =>
    Effect.gen(function*() {
      const { call, origin } = yield* serve({ buckets: { tenant: { burst: 50, refill: 10, per: "1 second" } } })
      const { page } = yield* openPage(origin, desk)
      assert.strictEqual(yield* left(page, "All calls"), 50)
      const shapes = new Set<string>()
      const levels: Array<number> = []
      const sample = Effect.gen(function*() {
        levels.push(yield* left(page, "All calls"))
        shapes.add((yield* go(() => card(page, "All calls").locator("path.allowed").getAttribute("d"))) ?? "")
      })
      const pace = Effect.all(
        Array.from({ length: 300 }, (_, index) => Effect.delay(call("/actions/actions"), index * 20)),
        { concurrency: "unbounded" }
      )
      yield* Effect.race(Effect.asVoid(pace), Effect.forever(Effect.delay(sample, "200 millis")))
      yield* go(() => card(page, "All calls").getByText(/^ ?\d+ refused/).waitFor())
      yield* picture(page, "live paced burst")
      const counts = go(async () => {
        const text = await card(page, "All calls").innerText()
        return [/(\d+) taken/, /(\d+) refused/].map((pattern) => Number(pattern.exec(text)?.[1]))
      })
      // The tenant tells its last calls within 100 ms.
      const [taken, refused] = yield* Effect.repeat(counts, {
        until: ([taken = 0, refused = 0]) => taken + refused >= 300,
        schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo("5 seconds"), Schedule.passthrough)
      }).pipe(Effect.zipRight(counts))
      // Six seconds refill 60 calls; with the 50 of the full bucket, most of the 300 are refused; on a slow machine, fewer.
      assert.strictEqual((taken ?? 0) + (refused ?? 0), 300)
      assert.isAbove(refused ?? 0, 0)
      assert.isBelow(Math.min(...levels), 10)
      assert.isAbove(shapes.size, 2) // a slow machine looks seldom
      yield* Effect.retry(
        Effect.flatMap(left(page, "All calls"), (now) => now === 50 ? Effect.void : Effect.fail("not full")),
        Schedule.spaced("200 millis").pipe(Schedule.upTo("20 seconds"))
      )
    }))

  it.scoped("connects again when the tenant has been restarted, and says meanwhile that it has not", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { call, origin, port } = yield* Scope.extend(serve(), scope)
      yield* call("/jobs/before")
      const { page } = yield* openPage(origin, desk)
      yield* go(() => row(page, "/jobs/before").waitFor())
      yield* Scope.close(scope, Exit.void)
      yield* go(() => connection(page).getByText("Disconnected").waitFor())
      yield* look(page, "disconnected")
      yield* change(page, desk)
      const again = yield* serve({}, port)
      yield* isLive(page)
      yield* again.call("/jobs/after")
      yield* go(() => row(page, "/jobs/after").waitFor())
      assert.strictEqual(yield* go(() => page.getByRole("alert").count()), 0)
    }))

  it.scoped("asks for the key if it has none, or another one", () =>
    Effect.gen(function*() {
      const { origin } = yield* serve()
      const { page } = yield* open(`${origin}/`, desk)
      yield* go(() => connection(page).getByText("No key").waitFor())
      yield* picture(page, "live no key")
      yield* go(() => page.getByRole("textbox", { name: "Address or key" }).fill("wrong"))
      yield* go(() => page.getByRole("button", { name: "Open" }).click())
      yield* go(() => connection(page).getByText("Key refused").waitFor())
      yield* picture(page, "live key refused")
      yield* go(() =>
        page.getByRole("textbox", { name: "Address or key" }).fill(`${origin}/#key=${encodeURIComponent(key)}`)
      )
      yield* go(() => page.getByRole("button", { name: "Open" }).click())
      yield* isLive(page)
      const stored = yield* go(() =>
        page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))
      )
      // A reload needs the key; nothing else is kept, and nothing longer than the tab.
      assert.strictEqual(stored, JSON.stringify([{}, { "tenant-key": key }, ""]))
    }))

  it.scoped("takes the key out of the address, and still has it after a reload", () =>
    Effect.gen(function*() {
      const { origin } = yield* serve()
      const { page, problems } = yield* openPage(origin, desk)
      assert.strictEqual(page.url(), `${origin}/`)
      yield* go(() => page.reload())
      yield* isLive(page)
      yield* go(() => page.getByRole("link", { name: "Operations" }).click())
      yield* go(() => page.getByRole("button", { name: "Authorize" }).waitFor())
      assert.strictEqual(page.url(), `${origin}/docs`)
      yield* go(() => page.goBack())
      yield* isLive(page)
      assert.deepStrictEqual(problems, [])
    }))

  it.scoped("says that it has failed if it cannot show the state, and can be loaded anew", () =>
    Effect.gen(function*() {
      const { origin } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      const message = yield* go(async () => {
        const response = await fetch(`${origin}/_tenant/state`, { headers: { [keyHeader]: key } })
        const snapshot = await response.json()
        return `data: ${JSON.stringify({ type: "snapshot", snapshot: { ...snapshot, jobs: null } })}\n\n`
      })
      yield* go(() => page.route("**/_tenant/events", (route) => route.fulfill({ body: message })))
      yield* go(() => page.reload())
      yield* go(() => page.getByRole("alert").getByText(/^This page has failed: /).waitFor())
      assert.strictEqual(yield* go(() => page.getByRole("grid").count()), 0)
      yield* go(() => page.unrouteAll())
      yield* go(() => page.getByRole("button", { name: "Reload" }).click())
      yield* isLive(page)
    }))
})

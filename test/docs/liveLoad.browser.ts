/** The tenant's live page under load: 2,000 requests a second for ten seconds. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Tenant from "../../src/Tenant.js"
import { Browser, overflow, picture } from "./browser.js"
import { card, connection, desk, go, openPage, row, serve } from "./support/liveTenant.js"

const [rate, seconds] = [2000, 10]

/** The time between two groups of requests, in milliseconds. In a group are more than the tenant reports at once. */
const step = 200

const group = rate * step / 1000

const plenty = { burst: 1500, refill: 1500, per: "1 second" } as const

layer(Browser.layer, { excludeTestServices: true })("the live page under load", (it) => {
  it.scoped("samples 2,000 requests a second, says so, and keeps its memory bounded", () =>
    Effect.gen(function*() {
      const { call, origin, tenant } = yield* serve({ buckets: { tenant: plenty } })
      const { page, problems } = yield* openPage(origin, desk)
      const session = yield* go(() => page.context().newCDPSession(page))
      const heap = go(async () => {
        await session.send("HeapProfiler.collectGarbage")
        return (await session.send("Runtime.getHeapUsage")).usedSize
      })
      // In process and without a token, requests cost least: this is about the page.
      const client = yield* Effect.provide(
        HttpClient.HttpClient,
        Layer.provide(Tenant.layerHttpClient, Layer.succeed(Tenant.Tenant, tenant))
      )
      const send = (path: string) => Effect.scoped(client.execute(HttpClientRequest.get(`${origin}/api/v2${path}`)))
      const sampled = yield* Effect.fork(
        go(() => card(page, "Requests").getByText(/^Sampled: the list lacks \d+ %$/).waitFor())
      )
      const before = yield* heap
      const heaps: Array<number> = []
      const start = yield* Clock.currentTimeMillis
      for (let sent = 0; sent < rate * seconds; sent += group) {
        yield* Effect.all(Array.from({ length: group }, (_, index) => send(`/jobs/job_${sent + index}`)), {
          concurrency: "unbounded",
          discard: true
        })
        // A slow machine falls behind, and takes longer.
        yield* Effect.sleep(Math.max(10, start + (sent + group) / rate * 1000 - (yield* Clock.currentTimeMillis)))
        if (sent % (rate * 5) === rate * 5 - group) heaps.push(yield* heap)
      }
      yield* Fiber.join(sampled)
      yield* picture(page, "live load")
      const took = (yield* Clock.currentTimeMillis) - start
      yield* go(() => card(page, "Requests").getByText(/20,00\d since the start/).waitFor())
      const rows = yield* go(() => page.getByRole("grid").getByRole("row").count())
      const kept = yield* go(() => page.getByRole("grid").getAttribute("aria-rowcount"))
      const elements = yield* go(() => page.evaluate(() => document.querySelectorAll("*").length))
      if (process.env["SCREENSHOTS"]) console.log({ took, before, heaps, rows, kept, elements })
      assert.isBelow(rows, 40)
      assert.isAtMost(Number(kept), 2000)
      assert.isBelow(elements, 2000)
      for (const used of heaps) assert.isBelow(used, before + 30_000_000)
      assert.strictEqual(yield* overflow(page), 0)
      assert.strictEqual(yield* go(() => connection(page).innerText()), "Live")
      yield* call("/jobs/last")
      yield* go(() => row(page, "/jobs/last").waitFor())
      assert.deepStrictEqual(problems, [])
    }))
})

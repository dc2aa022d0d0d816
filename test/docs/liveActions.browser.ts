/** The actions of the tenant's live page: each one works, and a reset undoes it. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import * as Tenant from "../../src/Tenant.js"
import { Browser, picture } from "./browser.js"
import { act, card, desk, go, left, openPage, row, serve } from "./support/liveTenant.js"

const { demo } = Tenant
const [stream] = demo.streams

const reset = (page: Page) => act(page, "Clock", "Reset", /^Reset to the seed state/)

const addFault = Effect.fn(function*(page: Page, fields: Readonly<Record<string, string>>) {
  for (const [label, value] of Object.entries(fields)) {
    const field = card(page, "Faults").getByLabel(label, { exact: true })
    yield* go(async () => {
      await ((await field.evaluate((element) => element.tagName)) === "SELECT"
        ? field.selectOption(value)
        : field.fill(value))
    })
  }
  yield* act(page, "Faults", "Add fault", /^The next /)
  // The text may still be that of an earlier fault.
  yield* go(() => page.getByRole("list", { name: "Faults that wait for calls" }).waitFor())
})

/** Waits until a part of the page has a text. */
const shows = (page: Page, part: string, text: string | RegExp) =>
  go(() => card(page, part).getByText(text).first().waitFor())

/** Waits until the page has no fault. */
const hasNoFault = (page: Page) =>
  go(() => page.getByRole("list", { name: "Faults that wait for calls" }).waitFor({ state: "detached" }))

const isFull = (page: Page, burst: number) =>
  Effect.retry(
    Effect.flatMap(left(page, "All calls"), (now) => now >= burst - 0.01 ? Effect.void : Effect.fail(now)),
    Schedule.spaced("50 millis").pipe(Schedule.upTo("5 seconds"))
  )

layer(Browser.layer, { excludeTestServices: true })("the actions of the live page", (it) => {
  it.scoped("fails the next calls with a status", () =>
    Effect.gen(function*() {
      const { call, origin } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      yield* addFault(page, { "Next calls": "2", "Operation": "getJob", "Status": "503" })
      yield* shows(page, "Faults", "2 calls")
      assert.strictEqual(yield* call("/actions/actions"), 200)
      assert.strictEqual(yield* call("/jobs/job_1"), 503)
      yield* go(() => row(page, /job_1.*fault.*503/).waitFor())
      yield* shows(page, "Faults", "1 call")
      yield* reset(page)
      yield* hasNoFault(page)
      assert.strictEqual(yield* call("/jobs/job_1"), 404)
    }))

  it.scoped("delays calls, breaks their connections, and removes faults one by one", () =>
    Effect.gen(function*() {
      const { call, origin, token } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      yield* token
      yield* addFault(page, { "Next calls": "1", "Delay, ms": "700" })
      yield* call("/actions/actions")
      yield* go(() => row(page, /\/actions\/actions.*([7-9]\d\d ms|\d\.\d s)/).waitFor())
      yield* addFault(page, { "Delay, ms": "", "Connection": "before" })
      assert.strictEqual(yield* call("/actions/actions"), 0)
      yield* go(() => row(page, "cut").waitFor())
      yield* addFault(page, { "Next calls": "9", "Connection": "within" })
      yield* act(page, "Faults", /^Remove the fault/, /^Fault removed/)
      yield* hasNoFault(page)
      yield* addFault(page, { "Next calls": "9", "Connection": "within" })
      yield* reset(page)
      yield* hasNoFault(page)
      assert.strictEqual(yield* call("/actions/actions"), 200)
    }))

  it.scoped("empties a bucket and fills it", () =>
    Effect.gen(function*() {
      const { call, origin } = yield* serve({ buckets: { tenant: { burst: 50, refill: 1, per: "10 minutes" } } })
      const { page } = yield* openPage(origin, desk)
      yield* act(page, "All calls", "Empty", /0 calls left/)
      assert.strictEqual(yield* call("/actions/actions"), 429)
      yield* go(() => row(page, "429").waitFor())
      assert.isBelow(yield* left(page, "All calls"), 1)
      yield* act(page, "All calls", "Fill", /50 calls left/)
      assert.strictEqual(yield* call("/actions/actions"), 200)
      yield* act(page, "All calls", "Empty", /0 calls left/)
      yield* reset(page)
      yield* isFull(page, 50)
      assert.strictEqual(yield* call("/actions/actions"), 200)
    }))

  it.scoped("revokes tokens, all and one", () =>
    Effect.gen(function*() {
      const { call, origin } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      assert.strictEqual(yield* call("/actions/actions"), 200)
      yield* shows(page, "Tokens", /left$/)
      yield* act(page, "Tokens", "Revoke all", /^1 token revoked/)
      yield* shows(page, "Tokens", "revoked")
      assert.strictEqual(yield* call("/actions/actions"), 401)
      yield* reset(page)
      yield* shows(page, "Tokens", /left$/)
      assert.strictEqual(yield* call("/actions/actions"), 200)
      yield* act(page, "Tokens", /^Revoke the token/, /^1 token revoked/)
      assert.strictEqual(yield* call("/actions/actions"), 401)
    }))

  it.scoped("fails deliveries", () =>
    Effect.gen(function*() {
      const { call, origin } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      yield* shows(page, "Event streams", /^2 failed$/)
      yield* act(page, "Event streams", "Fail all deliveries", /^3 events will fail/)
      yield* shows(page, "Event streams", /^3 failed$/)
      yield* shows(page, "Event streams", "fails 1 more time")
      assert.strictEqual(
        yield* call(`/event-streams/${stream.id}/redeliver/${stream.events[2].id}`, { method: "POST" }),
        202
      )
      yield* reset(page)
      yield* shows(page, "Event streams", /^2 failed$/)
      yield* go(() => card(page, "Event streams").getByText("more time").first().waitFor({ state: "detached" }))
    }))

  it.scoped("moves the clock: queued events are delivered, tokens expire", () =>
    Effect.gen(function*() {
      const { call, origin } = yield* serve()
      const { page } = yield* openPage(origin, desk)
      yield* call("/actions/actions")
      yield* shows(page, "Event streams", "1 queued")
      yield* act(page, "Clock", "+ 1 min", /^The clock shows/)
      yield* shows(page, "Event streams", "0 queued")
      yield* act(page, "Clock", "+ 1 day", /^The clock shows/)
      yield* shows(page, "Tokens", "expired")
      yield* shows(page, "Clock", /^1 d 1 min ahead/)
      assert.strictEqual(yield* call("/actions/actions"), 401)
      yield* picture(page, "live clock moved")
      yield* reset(page)
      yield* shows(page, "Event streams", "1 queued")
      yield* go(() => card(page, "Clock").getByText("ahead").waitFor({ state: "detached" }))
      assert.strictEqual(yield* call("/actions/actions"), 200)
    }))

  it.scoped("saves the state as a file without secrets, and loads it", () =>
    Effect.gen(function*() {
      const { call, origin, tenant } = yield* serve()
      const { page, problems } = yield* openPage(origin, desk)
      yield* call(`/event-streams/${stream.id}`, { method: "DELETE" })
      yield* go(() => card(page, "Event streams").getByText(stream.name).waitFor({ state: "detached" }))
      const [download] = yield* Effect.all([
        go(() => page.waitForEvent("download")),
        go(() => card(page, "Clock").getByRole("button", { name: "Save" }).click())
      ], { concurrency: 2 })
      assert.match(download.suggestedFilename(), /^tenant-.*\.json$/)
      const file = yield* go(() => download.path())
      const text = readFileSync(file, "utf8")
      assert.deepInclude(JSON.parse(text), { format: "effect-identity-client/tenant" })
      assert.notMatch(text, /demo-full-secret|eyJ/)
      yield* reset(page)
      yield* shows(page, "Event streams", stream.name)
      yield* go(() => page.getByLabel("Load a state").setInputFiles(file))
      yield* go(() => page.getByRole("status", { name: "Result" }).getByText("State loaded").waitFor())
      yield* go(() => card(page, "Event streams").getByText(stream.name).waitFor({ state: "detached" }))
      assert.lengthOf((yield* tenant.state).streams, 1)
      yield* go(() =>
        page.getByLabel("Load a state").setInputFiles({
          name: "wrong.json",
          mimeType: "application/json",
          buffer: Buffer.from("{}")
        })
      )
      yield* go(() => page.getByRole("status", { name: "Result" }).locator(".problem").waitFor())
      yield* reset(page)
      yield* shows(page, "Event streams", stream.name)
      assert.lengthOf(problems.filter((problem) => !problem.includes("400")), 0)
    }))
})

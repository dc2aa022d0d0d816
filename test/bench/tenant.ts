/**
 * `npm run bench:tenant`: the latency of the embedded tenant while its live page is open, over the latency while nobody looks; and
 * a load of 2,000 requests a second for ten seconds with the page open.
 *
 * The tenant and the browser run in processes of their own. Requests are sent at a fixed rate, whether or not those before have their
 * responses. Rounds with and without the page alternate, so that both see the same load of the machine: the ratio is the median over all
 * rounds. The first requests after a page was opened do not count. `--quick` runs fewer and shorter rounds.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Pool } from "@effect/platform-node/Undici"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { parseArgs } from "node:util"
import type { Page } from "playwright-core"
import { demoClients } from "../../src/Tenant.js"
import { executable, launch } from "../support/chromium.js"
import { tenantProcess } from "../support/tenantProcess.js"
import { save } from "./results.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})

const rounds = quick ? 3 : 11

/** The requests a second, and the seconds, of a round and of the load. */
const round = { rate: 200, seconds: quick ? 1 : 3 }
const load = { rate: 2000, seconds: quick ? 2 : 10 }

const key = "the-key-of-the-page"

const quantile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? NaN

const median = (values: ReadonlyArray<number>): number => quantile(values, 0.5)

interface Sent {
  readonly latencies: ReadonlyArray<number>
  readonly failed: number
  /** From the first request to the last response. */
  readonly millis: number
}

/** Sends requests at a fixed rate. */
const send = async (pool: Pool, token: string, { rate, seconds }: typeof round): Promise<Sent> => {
  const latencies: Array<number> = []
  let failed = 0
  const start = performance.now()
  const one = async (nth: number) => {
    const sentAt = performance.now()
    const { body, statusCode } = await pool.request({
      method: "GET",
      path: `/api/v2/jobs/job_${nth}`,
      headers: { authorization: `Bearer ${token}` }
    })
    await body.text()
    if (statusCode !== 404) failed++ // there is no such job
    latencies.push(performance.now() - sentAt)
  }
  const sent: Array<Promise<void>> = []
  while (sent.length < rate * seconds) {
    const wait = start + sent.length / rate * 1000 - performance.now()
    if (wait > 0) await new Promise((resume) => setTimeout(resume, wait))
    sent.push(one(sent.length))
  }
  await Promise.all(sent)
  return { latencies, failed, millis: performance.now() - start }
}

const tokenOf = async (origin: string): Promise<string> => {
  const { full: { id, secret } } = demoClients
  const response = await fetch(`${origin}/oauth/token/`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: id,
      client_secret: Redacted.value(secret),
      audience: "/api/v2/"
    })
  })
  return String((await response.json()).access_token)
}

/** Reads the heap of a page after a garbage collection, in MB. */
const heapOf = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page)
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  await session.detach()
  return usedSize / 1e6
}

const program = Effect.gen(function*() {
  const path = executable()
  if (path === undefined) return yield* Effect.dieMessage("Chromium is not installed; set CHROMIUM to its path")
  const { origin } = yield* tenantProcess(key)
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() => launch(path)),
    (browser) => Effect.promise(() => browser.close())
  )
  const pool = yield* Effect.acquireRelease(
    Effect.sync(() => new Pool(origin, { connections: 50 })),
    (pool) => Effect.promise(() => pool.destroy())
  )
  const token = yield* Effect.promise(() => tokenOf(origin))
  const looking = <A>(use: (page: Page) => Promise<A>) =>
    Effect.acquireUseRelease(
      Effect.promise(() => browser.newPage({ viewport: { width: 1280, height: 800 } })),
      (page) =>
        Effect.promise(async () => {
          await page.goto(`${origin}/#key=${key}`)
          await page.getByRole("status", { name: "Connection" }).getByText("Live").waitFor()
          return use(page)
        }),
      (page) => Effect.promise(() => page.close())
    )
  const unseen = Effect.promise(() => send(pool, token, round))
  const seen = looking(async () => {
    await send(pool, token, { ...round, seconds: 1 })
    return send(pool, token, round)
  })

  yield* Effect.zipRight(unseen, seen) // warms up
  const pairs: Array<readonly [without: Sent, withPage: Sent]> = []
  for (let nth = 0; nth < rounds; nth++) {
    if (nth % 2 === 0) pairs.push(yield* Effect.all([unseen, seen]))
    else {
      const [withPage, without] = yield* Effect.all([seen, unseen])
      pairs.push([without, withPage])
    }
  }
  const of = (share: number) => ({
    without: median(pairs.map(([{ latencies }]) => quantile(latencies, share))),
    withPage: median(pairs.map(([, { latencies }]) => quantile(latencies, share))),
    ratio: median(
      pairs.map(([without, withPage]) => quantile(withPage.latencies, share) / quantile(without.latencies, share))
    )
  })
  const [middle, slow] = [of(0.5), of(0.95)]

  const bare = yield* Effect.promise(() => send(pool, token, load))
  const [before, loaded, after] = yield* looking(async (page) => {
    const before = await heapOf(page)
    const loaded = await send(pool, token, load)
    return [before, loaded, await heapOf(page)] as const
  })
  const rateOf = ({ latencies, millis }: Sent) => Math.round(latencies.length / millis * 1000)
  const failed = [...pairs.flat(), bare, loaded].reduce((sum, { failed }) => sum + failed, 0)

  const line = (name: string, ...cells: ReadonlyArray<string>) =>
    `${name.padEnd(36)}${cells.map((cell) => cell.padStart(14)).join("")}`
  const ms = (value: number) => `${value.toFixed(2)} ms`
  const lines = [
    line("", "nobody looks", "page is open", "ratio"),
    ...[[middle, "median"] as const, [slow, "95 %"] as const].map(([{ ratio, withPage, without }, name]) =>
      line(`latency at ${round.rate} a second, ${name}`, ms(without), ms(withPage), ratio.toFixed(2))
    ),
    line(`requests a second of ${load.rate}`, String(rateOf(bare)), String(rateOf(loaded)), ""),
    line("the page's heap", `${before.toFixed(1)} MB`, `${after.toFixed(1)} MB`, "")
  ].map((text) => text.trimEnd())
  yield* Console.log(lines.join("\n"))
  save("tenant.txt", lines.join("\n"))
  yield* Console.log(`\n${
    JSON.stringify({
      failed,
      latencyRatio: Number(middle.ratio.toFixed(2)),
      latencyRatio95: Number(slow.ratio.toFixed(2)),
      requestsPerSecond: rateOf(loaded),
      heapGrowthMb: Number((after - before).toFixed(1))
    })
  }`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)

/**
 * `npm run cluster`: two runners on PostgreSQL redeliver the failed events of an embedded tenant. In the middle one of them is stopped,
 * as in a rolling deploy, and the other goes on. Needs the programs of PostgreSQL; they run with data of their own until the end.
 */
import { HttpServer } from "@effect/platform"
import { NodeClusterSocket, NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Console, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import * as Cluster from "effect-identity-client/Cluster"
import * as Jobs from "effect-identity-client/Jobs"
import * as Tenant from "effect-identity-client/Tenant"
import { fork } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { freePort } from "../support/freePort.js"
import { isAvailable, postgresServer } from "../support/postgresServer.js"
import { bold, dim, green, yellow } from "../support/terminal.js"
import { DatabaseLive, TenantsLive } from "./layers.js"

const { demoClients: { full } } = Tenant
const { streams: [demo] } = Tenant.demo

const events = Array.from({ length: 240 }, (_, nth) => ({
  ...demo.events[0],
  id: `evt_${String(nth).padStart(22, "0")}`
}))

/** Starts a runner in a process of its own, and waits until it is ready. It ends with the scope. */
const startRunner = (name: string) =>
  Effect.gen(function*() {
    const [runnerPort, healthPort] = yield* Effect.all([freePort, freePort])
    const env = { ...process.env, RUNNER_PORT: String(runnerPort), HEALTH_PORT: String(healthPort) }
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        fork(fileURLToPath(new URL("runner.ts", import.meta.url)), {
          env,
          stdio: ["ignore", "pipe", "inherit", "ipc"]
        })
      ),
      (child) => Effect.sync(() => void child.kill("SIGKILL"))
    )
    const logs: Array<string> = []
    child.stdout?.on("data", (data: Buffer) => void logs.push(String(data)))
    const isReady = Effect.tryPromise(() => fetch(`http://127.0.0.1:${healthPort}/ready`)).pipe(
      Effect.filterOrFail(({ ok }) => ok),
      Effect.mapError(() => `${name} is not ready:\n${logs.join("")}`)
    )
    yield* Effect.retry(isReady, {
      schedule: Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(600)),
      while: () => child.exitCode === null
    })
    yield* Console.log(
      `${green("✓")} ${name} is ready ${dim(`(process ${child.pid}, http://127.0.0.1:${healthPort}/ready)`)}`
    )
    const jobs = Effect.flatMap(isReady, (response) => Effect.promise(() => response.json())).pipe(
      Effect.map(({ jobs }: { readonly jobs: number }) => jobs)
    )
    return { name, jobs, stop: Effect.sync(() => void child.kill("SIGTERM")) }
  })

type Runner = Effect.Effect.Success<ReturnType<typeof startRunner>>

/** Submits a job, stops its runner in the middle, and shows how far the job is until it has ended. */
const redeliver = (baseUrl: string, runners: ReadonlyArray<Runner>) =>
  Effect.gen(function*() {
    const { awaitEnd, status, submit } = yield* Jobs.Jobs
    const id = yield* submit(Jobs.redelivery({
      tenant: baseUrl,
      key: "demo",
      stream: demo.id,
      events: events.map(({ id }) => id)
    }))
    yield* Console.log(`${green("✓")} submitted ${id}: ${events.length} events`)
    const show = Effect.flatMap(
      status(id),
      ({ events: { left, outcomes, total }, state }) =>
        Console.log(
          `  ${state}: ${total - left} of ${total} ${
            dim(`(${outcomes.accepted} accepted, ${outcomes.unknown} unknown)`)
          }`
        )
    )
    yield* Effect.fork(Effect.repeat(show, Schedule.spaced("2 seconds")))
    yield* Effect.sleep("7 seconds")
    const findBusy = Effect.gen(function*() {
      const busy = yield* Effect.findFirst(runners, ({ jobs }) => Effect.map(jobs, (jobs) => jobs > 0))
      return yield* busy
    })
    // Again if there is none: while the runners divide the work anew, the job may be on its way from one to the other.
    const { name, stop } = yield* Effect.retry(findBusy, { schedule: Schedule.spaced("100 millis"), times: 100 })
    yield* Console.log(yellow(`  ${name}, which runs the job, is stopped (SIGTERM)`))
    yield* stop
    const [took, { events: { outcomes } }] = yield* Effect.timed(awaitEnd(id))
    yield* Console.log(
      `${green("✓")} done: ${outcomes.accepted} accepted, ${outcomes.unknown} unknown, ${
        Duration.format(Duration.seconds(Math.round(Duration.toSeconds(took))))
      } after that`
    )
  })

const program = Effect.gen(function*() {
  if (!isAvailable) {
    return yield* Effect.fail("there is no PostgreSQL on this machine: install its server, and try again")
  }
  const server = yield* postgresServer
  const database = yield* server.database
  yield* Console.log(`${bold("A redelivery on two runners")}
${green("✓")} PostgreSQL is ready ${dim(`(port ${server.port})`)}`)
  process.env["DATABASE_URL"] = `postgres://postgres@127.0.0.1:${server.port}/${database}`
  process.env["IDENTITY_CLIENT_ID"] = full.id
  process.env["IDENTITY_CLIENT_SECRET"] = Redacted.value(full.secret)
  process.env["TOKEN_KEY"] = randomBytes(32).toString("base64")
  const baseUrl = yield* HttpServer.addressFormattedWith((origin) => Effect.succeed(`${origin}/api/v2`))
  yield* Console.log(`${green("✓")} the tenant is ready ${dim(`(${baseUrl}, 50 calls at once and 16 a second)`)}`)
  const runners = yield* Effect.all([startRunner("runner 1"), startRunner("runner 2")], { concurrency: 2 })

  // This process submits the job and watches it. It runs none.
  const JobsLive = Cluster.layerJobs.pipe(
    Layer.provide(NodeClusterSocket.layer({ clientOnly: true })),
    Layer.provide(TenantsLive),
    Layer.provide(DatabaseLive)
  )
  yield* Effect.provide(redeliver(baseUrl, runners), JobsLive)
  const { requests } = yield* Tenant.Tenant
  const arrived = (yield* requests).filter(({ operation }) => operation === "redeliverEvent").map(({ path }) => path)
  const text = `${arrived.length} redeliveries arrived at the tenant, of ${new Set(arrived).size} events`
  if (arrived.length !== events.length) return yield* Effect.fail(text)
  yield* Console.log(`${green("✓")} ${text}`)
})

const TenantLive = Tenant.layerServer.pipe(
  Layer.provideMerge(Tenant.layerWith({ seed: { ...Tenant.demo, streams: [{ ...demo, events }] } })),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

program.pipe(Effect.scoped, Effect.provide(TenantLive), NodeRuntime.runMain)

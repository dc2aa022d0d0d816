/** What is mutated together, and the tests of the suite that are to notice it: those that run in one process. */
import { readdirSync } from "node:fs"
import type { Survivors } from "./survivors.js"
import { survivors as fleet } from "./survivors/fleet.js"
import { survivors as limits } from "./survivors/limits.js"
import { survivors as streams } from "./survivors/streams.js"
import { survivors as tenant } from "./survivors/tenant.js"
import { survivors as token } from "./survivors/token.js"
import { survivors as wire } from "./survivors/wire.js"

export interface Part {
  readonly name: string
  /** Files of `src`. */
  readonly files: ReadonlyArray<string>
  /** Files of `test`, without their ending. */
  readonly tests: ReadonlyArray<string>
  /** What nobody has to notice. */
  readonly survivors: Survivors
}

const all = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => `src/${file.replaceAll("\\", "/")}`)

/** Files of `src` by their names without an ending; `tenant/` is a whole folder. */
const named = (...names: ReadonlyArray<string>) =>
  all.filter((file) =>
    names.some((name) => name.endsWith("/") ? file.startsWith(`src/${name}`) : file === `src/${name}.ts`)
  )

const internal = (...names: ReadonlyArray<string>) => named(...names.map((name) => `internal/${name}`))

const some: ReadonlyArray<Part> = [
  {
    name: "token",
    files: [
      ...named("Node", "TokenProvider", "node/undiciDispatcher", "node/undiciClient"),
      ...internal(
        "runtime/timeouts",
        "schema/drift",
        "telemetry/logs",
        "telemetry/metrics",
        "token/clientCredentials",
        "telemetry/spans",
        "telemetry/callTelemetry"
      )
    ],
    tests: [
      "client/pipeline",
      "runtime/timeouts",
      "schema/drift",
      "security/hardening",
      "client/node",
      "telemetry/otlp",
      "fleet/token",
      "telemetry/spans",
      "telemetry/metricsAndLogs",
      "token/tokenProvider",
      "http/undici"
    ],
    survivors: token
  },
  {
    name: "streams",
    files: [
      ...named("Pagination", "Redelivery", "node/fileJournal"),
      ...internal(
        "redelivery/run",
        "pagination/pageSchema",
        "runtime/yieldToEventLoop",
        "redelivery/input",
        "redelivery/journal",
        "pagination/pageTracker",
        "redelivery/outcome",
        "redelivery/progress",
        "redelivery/workers"
      )
    ],
    tests: [
      "client/node",
      "pagination/pageSchema",
      "pagination/pageTracker",
      "pagination/pagination",
      "redelivery/redelivery",
      "redelivery/fileJournal",
      "redelivery/input",
      "redelivery/journal",
      "redelivery/progress"
    ],
    survivors: streams
  },
  {
    name: "limits",
    files: [
      ...named("RateLimiter"),
      ...internal(
        "runtime/timer",
        "limiter/estimator",
        "limiter/bucket",
        "limiter/queue",
        "runtime/heap",
        "limiter/fixed",
        "fleet/snapshot",
        "limiter/news",
        "runtime/linkedList",
        "limiter/adaptive",
        "limiter/rateLimitHeaders",
        "limiter/fixedWindow"
      )
    ],
    tests: [
      "runtime/timeouts",
      "fleet/fleet",
      "fleet/limiter",
      "security/hardening",
      "limiter/estimator",
      "limiter/rateLimiter",
      "limiter/goodput",
      "telemetry/spans",
      "telemetry/metricsAndLogs",
      "support/virtualTime"
    ],
    survivors: limits
  },
  {
    name: "fleet",
    files: [
      ...named("Fleet", "Redis", "SharedStore"),
      ...internal("fleet/limiter", "fleet/saved", "fleet/encryption", "fleet/token")
    ],
    tests: ["fleet/fleet", "fleet/limiter", "fleet/store", "security/hardening", "fleet/redis", "fleet/token"],
    survivors: fleet
  },
  {
    name: "tenant",
    files: named("Tenant", "Testing", "tenant/"),
    tests: ["support/bucketServer", "client/node", "tenant/openapi", "tenant/tenant", "client/testing"],
    survivors: tenant
  }
]

const rest = all.filter((file) => !some.some(({ files }) => files.includes(file)))

/** All of `src`: what no other part names is the first's. */
export const parts: ReadonlyArray<Part> = [
  {
    name: "wire",
    files: rest,
    tests: [
      "client/pipeline",
      "schema/decode",
      "schema/validator",
      "runtime/timeouts",
      "schema/drift",
      "client/errors",
      "security/hardening",
      "package/package",
      "http/request",
      "http/response",
      "client/retry",
      "schema/timestamp",
      "token/tokenProvider",
      "http/undici",
      "contract/wireFacts"
    ],
    survivors: wire
  },
  ...some
]

/** A few files that say much in little, for a look in passing. */
export const quick: Part = {
  name: "quick",
  files: internal("runtime/backoff", "http/formEncoding", "schema/decode"),
  tests: ["http/request", "http/response", "client/retry"],
  survivors: wire
}

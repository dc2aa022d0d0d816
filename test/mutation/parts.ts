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
      ...named("Node", "TokenProvider", "node/exchange", "node/transport"),
      ...internal("deadlines", "drift", "logs", "metrics", "oauth", "spans", "watch")
    ],
    tests: [
      "attempt",
      "deadlines",
      "drift",
      "hardening",
      "node",
      "otlp",
      "sharedToken",
      "spans",
      "telemetry",
      "tokenProvider",
      "transport"
    ],
    survivors: token
  },
  {
    name: "streams",
    files: [
      ...named("Pagination", "Redelivery", "node/journal"),
      ...internal("course", "derived", "eventLoop", "feed", "journal", "listing", "outcome", "tally")
    ],
    tests: ["node", "pagination", "redelivery", "streams"],
    survivors: streams
  },
  {
    name: "limits",
    files: [
      ...named("RateLimiter"),
      ...internal(
        "alarm",
        "belief",
        "bucket",
        "gate",
        "heap",
        "known",
        "learned",
        "news",
        "queue",
        "sharing",
        "supply",
        "windows"
      )
    ],
    tests: [
      "deadlines",
      "fleet",
      "fleetLimits",
      "hardening",
      "limits",
      "rateLimiter",
      "rateLimiter.goodput",
      "spans",
      "telemetry",
      "virtualTime"
    ],
    survivors: limits
  },
  {
    name: "fleet",
    files: [...named("Fleet", "Redis", "SharedStore"), ...internal("fleet", "saved", "seal", "sharedToken")],
    tests: ["fleet", "fleetLimits", "fleetParts", "hardening", "redis", "sharedToken"],
    survivors: fleet
  },
  {
    name: "tenant",
    files: named("Tenant", "Testing", "tenant/"),
    tests: ["bucketServer", "node", "openapi", "tenant", "testing"],
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
      "attempt",
      "checks",
      "deadlines",
      "drift",
      "errors",
      "hardening",
      "package",
      "request",
      "response",
      "retry",
      "timestamp",
      "tokenProvider",
      "transport",
      "wireFacts"
    ],
    survivors: wire
  },
  ...some
]

/** A few files that say much in little, for a look in passing. */
export const quick: Part = {
  name: "quick",
  files: internal("backoff", "form", "nulls"),
  tests: ["request", "response", "retry"],
  survivors: wire
}

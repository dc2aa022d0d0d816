/** What is mutated together, and the tests that are to notice it: those of the suite that run in one process, without the longest. */
import type { Survivors } from "./survivors.js"
import { survivors as fleet } from "./survivors/fleet.js"
import { survivors as limits } from "./survivors/limits.js"
import { survivors as streams } from "./survivors/streams.js"
import { survivors as tenant } from "./survivors/tenant.js"
import { survivors as token } from "./survivors/token.js"
import { survivors as wire } from "./survivors/wire.js"

export interface Part {
  readonly name: string
  /** What nobody has to notice. */
  readonly survivors: Survivors
  /** Files of `src`, as globs. */
  readonly mutate: ReadonlyArray<string>
  /** Files of `test`, without their ending. */
  readonly tests: ReadonlyArray<string>
}

const internal = (...names: ReadonlyArray<string>) => names.map((name) => `src/internal/${name}.ts`)

export const parts: ReadonlyArray<Part> = [
  {
    name: "wire",
    survivors: wire,
    mutate: [
      "src/{Endpoint,Errors,IdentityClient,Operation,Retry,Timestamp,index}.ts",
      "src/operations/*.ts",
      ...internal(
        "address",
        "attempt",
        "backoff",
        "checks",
        "failure",
        "form",
        "headers",
        "http",
        "issues",
        "names",
        "nulls",
        "openCalls",
        "perOperation",
        "promise",
        "redact",
        "repeat",
        "request",
        "response",
        "task",
        "version"
      )
    ],
    tests: [
      "attempt",
      "checks",
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
    ]
  },
  {
    name: "token",
    survivors: token,
    mutate: [
      "src/{Node,TokenProvider}.ts",
      "src/node/{exchange,transport}.ts",
      ...internal("deadlines", "drift", "logs", "metrics", "oauth", "spans", "watch")
    ],
    tests: [
      "attempt",
      "deadlines",
      "drift",
      "hardening",
      "node",
      "otlp",
      "spans",
      "telemetry",
      "tokenProvider",
      "transport"
    ]
  },
  {
    name: "streams",
    survivors: streams,
    mutate: [
      "src/{Pagination,Redelivery}.ts",
      "src/node/journal.ts",
      ...internal("course", "derived", "feed", "journal", "listing", "outcome", "tally")
    ],
    tests: ["node", "pagination", "redelivery"]
  },
  {
    name: "limits",
    survivors: limits,
    mutate: [
      "src/RateLimiter.ts",
      ...internal(
        "alarm",
        "belief",
        "bucket",
        "gate",
        "heap",
        "known",
        "news",
        "queue",
        "sharing",
        "supply",
        "windows"
      )
    ],
    tests: ["rateLimiter", "rateLimiter.goodput", "telemetry", "virtualTime"]
  },
  {
    name: "fleet",
    survivors: fleet,
    mutate: ["src/{Fleet,Redis,SharedStore}.ts", ...internal("fleet", "saved", "seal", "sharedToken")],
    tests: ["fleet", "redis", "sharedToken"]
  },
  {
    name: "tenant",
    survivors: tenant,
    mutate: ["src/{Tenant,Testing}.ts", "src/tenant/**/*.ts"],
    tests: ["bucketServer", "node", "openapi", "tenant", "testing"]
  }
]

/** Some files that say much in little, for a look in passing. */
export const quick: Part = {
  name: "quick",
  survivors: [...wire, ...limits],
  mutate: internal("backoff", "bucket", "headers", "heap", "queue"),
  tests: ["response", "retry", "wireFacts"]
}

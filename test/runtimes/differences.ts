/** Where a runtime's own `fetch` makes another thing of a fault than the matrix says, and why that is so. */
import { Array as Arr } from "effect"
import { operations } from "../support/operations.js"
import type { FaultCase } from "./scenes.js"

/** What a call gives on some runtimes instead. */
interface Difference {
  readonly runtimes: ReadonlyArray<string>
  readonly rows: ReadonlyArray<string>
  /** As the README says it. */
  readonly why: string
  readonly instead: (one: FaultCase) => FaultCase | Arr.NonEmptyReadonlyArray<FaultCase>
}

const keptAlive = [
  "kept-alive connection closed on the next request",
  "kept-alive connection reset on the next request"
]

const once = (one: FaultCase): FaultCase => ({ ...one, requests: one.requests + 1 })

const isIdempotent = ({ operation }: FaultCase): boolean =>
  operations.some(({ endpoint: { method, name } }) => name === operation && (method === "GET" || method === "DELETE"))

/** A failure, but not with the system's code for it. */
const without = (members: object): FaultCase["gives"] => ({ tags: ["TransportError"], members })

/** Headers of any size are fine to the nth attempt, and the body is that of a failure. */
const accepted = (one: FaultCase, nth = 1): FaultCase => ({
  ...one,
  requests: nth,
  gives: ["createUsersExport", "listActionVersions"].includes(one.operation)
    ? { tags: ["UnexpectedResponse"], members: { status: 200, reason: "schema" } }
    : undefined
})

export const differences: ReadonlyArray<Difference> = [
  {
    runtimes: ["Bun, fetch", "workerd, fetch"],
    rows: keptAlive,
    why: "sends GET and DELETE once more by itself when a kept-alive connection breaks",
    instead: (one) => isIdempotent(one) ? once(one) : one
  },
  {
    runtimes: ["Deno, fetch"],
    rows: keptAlive,
    why: "sends any request once more by itself when a kept-alive connection breaks",
    instead: once
  },
  {
    runtimes: ["Deno, fetch", "Deno, no pool"],
    rows: ["refused connection"],
    why: "gives no code for a refused connection",
    instead: (one) => ({ ...one, gives: without({ outcome: "not-sent", code: undefined }) })
  },
  {
    runtimes: ["workerd, fetch"],
    rows: ["refused connection"],
    why: "does not tell a refused connection from a lost one",
    instead: (one) => ({ ...one, gives: without({ outcome: "unknown", code: undefined }) })
  },
  {
    runtimes: ["Bun, fetch", "Deno, fetch", "Deno, no pool", "workerd, fetch"],
    rows: ["100 that nobody asked for"],
    why: "goes on waiting after a 100",
    instead: (one) => ({ ...one, stalls: true, gives: without({ outcome: "unknown", code: "TIMEOUT" }) })
  },
  {
    runtimes: ["Bun, fetch"],
    rows: ["headers of 1 MB"],
    why: "accepts headers of 1 MB",
    instead: (one) => accepted(one)
  },
  {
    runtimes: ["Deno, fetch", "Deno, no pool"],
    rows: ["headers of 1 MB"],
    why: "accepts headers of 1 MB or refuses them, as they happen to come",
    // Each attempt has its own luck.
    instead: (one) => Arr.append(Arr.makeBy(one.requests, (before) => accepted(one, before + 1)), one)
  }
]

/** A cell of the matrix as a runtime has it; if there are several, as any of them. */
export const differing = (runtime: string, one: FaultCase): Arr.NonEmptyReadonlyArray<FaultCase> => {
  const difference = differences.find(({ rows, runtimes }) => runtimes.includes(runtime) && rows.includes(one.row))
  const instead = difference?.instead(one) ?? one
  return "row" in instead ? [instead] : instead
}

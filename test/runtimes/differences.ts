/** Faults that a runtime's own `fetch` handles differently from the fault matrix. */
import { Array as Arr } from "effect"
import { operations } from "../support/operations.js"
import type { FaultCase } from "./scenes.js"

/** Rows of the matrix with another result on some runtimes. */
interface Difference {
  readonly runtimes: ReadonlyArray<string>
  readonly rows: ReadonlyArray<string>
  /** The guide to runtimes has this text. */
  readonly why: string
  readonly instead: (one: FaultCase) => FaultCase | Arr.NonEmptyReadonlyArray<FaultCase>
}

const keptAlive = [
  "kept-alive connection closed on the next request",
  "kept-alive connection reset on the next request"
]

const oneMore = (one: FaultCase): FaultCase => ({ ...one, requests: one.requests + 1 })

const isIdempotent = ({ operation }: FaultCase): boolean =>
  operations.some(({ endpoint: { method, name } }) => name === operation && (method === "GET" || method === "DELETE"))

/** A transport failure without the system's error code. */
const transportError = (fields: object): FaultCase["gives"] => ({ tags: ["TransportError"], fields })

/** The nth attempt accepts headers of any size; the body is that of a failure. */
const accepted = (one: FaultCase, nth = 1): FaultCase => ({
  ...one,
  requests: nth,
  gives: ["createUsersExport", "listActionVersions"].includes(one.operation)
    ? { tags: ["UnexpectedResponse"], fields: { status: 200, reason: "schema" } }
    : undefined
})

export const differences: ReadonlyArray<Difference> = [
  {
    runtimes: ["Bun, fetch", "workerd, fetch"],
    rows: keptAlive,
    why: "sends GET and DELETE once more by itself when a kept-alive connection breaks",
    instead: (one) => isIdempotent(one) ? oneMore(one) : one
  },
  {
    runtimes: ["Deno, fetch"],
    rows: keptAlive,
    why: "sends any request once more by itself when a kept-alive connection breaks",
    instead: oneMore
  },
  {
    runtimes: ["Deno, fetch", "Deno, no pool"],
    rows: ["refused connection"],
    why: "gives no code for a refused connection",
    instead: (one) => ({ ...one, gives: transportError({ outcome: "not-sent", code: undefined }) })
  },
  {
    runtimes: ["workerd, fetch"],
    rows: ["refused connection"],
    why: "does not tell a refused connection from a lost one",
    instead: (one) => ({ ...one, gives: transportError({ outcome: "unknown", code: undefined }) })
  },
  {
    runtimes: ["Bun, fetch", "Deno, fetch", "Deno, no pool", "workerd, fetch"],
    rows: ["100 that nobody asked for"],
    why: "goes on waiting after a 100",
    instead: (one) => ({ ...one, stalls: true, gives: transportError({ outcome: "unknown", code: "TIMEOUT" }) })
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
    // It differs from attempt to attempt.
    instead: (one) => Arr.append(Arr.makeBy(one.requests, (before) => accepted(one, before + 1)), one)
  }
]

/** Returns the accepted results of a cell on a runtime; one of them must match. */
export const differing = (runtime: string, one: FaultCase): Arr.NonEmptyReadonlyArray<FaultCase> => {
  const difference = differences.find(({ rows, runtimes }) => runtimes.includes(runtime) && rows.includes(one.row))
  const instead = difference?.instead(one) ?? one
  return "row" in instead ? [instead] : instead
}

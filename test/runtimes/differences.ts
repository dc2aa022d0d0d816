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

/** The runtime may repeat each retry. A repeat needs a connection that was used before and is still open, so their number differs. */
const withRepeats = (one: FaultCase): Arr.NonEmptyReadonlyArray<FaultCase> =>
  Arr.makeBy(one.requests, (repeats) => ({ ...one, requests: one.requests + repeats }))

/** Tests if the client retries the operation after a transport failure, up to three attempts in all. */
const mayBeRetried = (one: FaultCase): boolean =>
  operations.some(({ endpoint }) => endpoint.name === one.operation && endpoint.idempotent)

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
    runtimes: ["Deno, fetch", "Chromium, fetch"],
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
    runtimes: ["workerd, fetch", "Chromium, fetch"],
    rows: ["refused connection"],
    why: "does not tell a refused connection from a lost one",
    instead: (one) => ({ ...one, gives: transportError({ outcome: "unknown", code: undefined }) })
  },
  {
    runtimes: ["Bun, fetch", "Deno, fetch", "Deno, no pool", "workerd, fetch", "Chromium, fetch"],
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
  },
  {
    runtimes: ["Chromium, fetch"],
    rows: ["408"],
    why: "sends a request once more by itself after a 408 on a kept-alive connection",
    instead: withRepeats
  },
  {
    runtimes: ["Chromium, fetch"],
    rows: ["header without a colon", "length that is no number"],
    why: "goes on waiting after a header without a colon or an invalid length",
    instead: (one) =>
      withRepeats({ ...one, stalls: true, gives: transportError({ outcome: "unknown", code: "TIMEOUT" }) })
  },
  {
    runtimes: ["Chromium, fetch"],
    rows: ["close within the headers"],
    why: "takes headers that break off for complete",
    instead: (one) => accepted(one)
  },
  {
    runtimes: ["Chromium, fetch"],
    rows: ["broken gzip"],
    why: "does not tell a body that cannot be decoded from a broken connection",
    instead: (one) =>
      one.gives === undefined ? one : {
        ...one,
        gives: transportError({ outcome: "unknown", code: undefined }),
        requests: mayBeRetried(one) ? 3 : 1
      }
  },
  {
    runtimes: ["Chromium, fetch"],
    rows: [
      "redirect to the same origin (302)",
      "redirect to another origin (301)",
      "redirect to another origin (307)",
      "redirect to another origin (308)",
      "redirect to https (303)"
    ],
    why: "hides the status of a redirect",
    instead: (one) => ({ ...one, gives: { tags: ["UnexpectedResponse"], fields: { reason: "redirect", status: 0 } } })
  }
]

/** Tests if a runtime sends its own User-Agent, whatever the program sets. */
export const hasOwnUserAgent = (runtime: string): boolean => runtime === "Chromium, fetch"

/** Returns the accepted results of a cell on a runtime; one of them must match. */
export const differing = (runtime: string, one: FaultCase): Arr.NonEmptyReadonlyArray<FaultCase> => {
  const difference = differences.find(({ rows, runtimes }) => runtimes.includes(runtime) && rows.includes(one.row))
  const instead = difference?.instead(one) ?? one
  return "row" in instead ? [instead] : instead
}

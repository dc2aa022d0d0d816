/** The clients and the scenarios of the benchmark. */
import { effect4, type Line } from "../../../.ci/line.js"
import { type PayloadName, payloadNames } from "./payloads.js"

export const programs = ["server", "undici", "fetch", "auth0", "openapi-fetch", "ky", "got", "ours"] as const

export type Program = typeof programs[number]

export interface Client {
  readonly name: string
  readonly program: Program
  readonly env?: Readonly<Record<string, string>>
  /** The line of the package whose program it is. Default: the one for Effect 3. */
  readonly line?: Line
}

export const clients: ReadonlyArray<Client> = [
  { name: "undici", program: "undici" },
  { name: "ours-lean", program: "ours", env: { VARIANT: "lean" } },
  { name: "ours-lean-traced", program: "ours", env: { VARIANT: "traced" } },
  { name: "ours-wrapped", program: "ours", env: { VARIANT: "wrapped" } },
  { name: "ours-stock", program: "ours", env: { VARIANT: "stock" } },
  { name: "fetch", program: "fetch" },
  { name: "got", program: "got" },
  { name: "openapi-fetch", program: "openapi-fetch" },
  { name: "ky", program: "ky" },
  { name: "auth0", program: "auth0" }
]

/** What is measured for the line on Effect 4: it, undici 8 that it stands on, and the line on Effect 3 with its undici. */
export const clientsOfEffect4: ReadonlyArray<Client> = [
  { name: "undici", program: "undici", line: effect4 },
  ...clients.filter(({ program }) => program === "ours").map((client) => ({ ...client, line: effect4 })),
  { name: "undici-7", program: "undici" },
  { name: "ours-lean-3", program: "ours", env: { VARIANT: "lean" } },
  { name: "ours-lean-traced-3", program: "ours", env: { VARIANT: "traced" } },
  { name: "auth0", program: "auth0" }
]

export interface Scenario {
  readonly payload: PayloadName
  /** The number of calls at a time. */
  readonly concurrency: number
}

export const scenarios: ReadonlyArray<Scenario> = payloadNames.flatMap((payload) =>
  [1, 50].map((concurrency) => ({ payload, concurrency }))
)

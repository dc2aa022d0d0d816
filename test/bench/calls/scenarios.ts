/** The clients and the scenarios of the benchmark. */
import { type PayloadName, payloadNames } from "./payloads.js"

export const programs = ["server", "undici", "fetch", "auth0", "openapi-fetch", "ky", "got", "ours"] as const

type Program = typeof programs[number]

export interface Client {
  readonly name: string
  readonly program: Program
  readonly env?: Readonly<Record<string, string>>
}

export const clients: ReadonlyArray<Client> = [
  { name: "undici", program: "undici" },
  { name: "ours-lean", program: "ours", env: { VARIANT: "lean" } },
  { name: "ours-lean-traced", program: "ours", env: { VARIANT: "traced" } },
  { name: "ours-stock", program: "ours", env: { VARIANT: "stock" } },
  { name: "fetch", program: "fetch" },
  { name: "got", program: "got" },
  { name: "openapi-fetch", program: "openapi-fetch" },
  { name: "ky", program: "ky" },
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

/** The calls that every client makes, and what a tenant has to hold so that each of them can succeed. */
import type * as Effect from "effect/Effect"
import * as Tenant from "../../../src/Tenant.js"
import type { Limit } from "./scenarios.js"

/** The five operations, as a client carries them out. */
export interface Operations<R> {
  readonly createUsersExport: (input: { readonly format: "csv" }) => Effect.Effect<unknown, unknown, R>
  readonly updateTokenExchangeProfile: (
    input: { readonly id: string; readonly name: string }
  ) => Effect.Effect<unknown, unknown, R>
  readonly listActionVersions: (input: { readonly actionId: string }) => Effect.Effect<unknown, unknown, R>
  readonly redeliverEvent: (
    input: { readonly id: string; readonly event_id: string }
  ) => Effect.Effect<unknown, unknown, R>
  readonly deleteEventStream: (input: { readonly id: string }) => Effect.Effect<unknown, unknown, R>
}

const id = (prefix: string, nth: number) => `${prefix}_${String(nth).padStart(22, "0")}`

const actionId = Tenant.demo.actions[0].id
const profileId = Tenant.demo.profiles[0].id
const redelivering = Tenant.demo.streams[0].id

/** The nth call against a bucket: each of the operations that draw on it in turn. */
export const nthCall = <R>(
  operations: Operations<R>,
  bucket: Limit["bucket"],
  nth: number
): Effect.Effect<unknown, unknown, R> => {
  if (bucket === "profileUpdates") {
    return operations.updateTokenExchangeProfile({ id: profileId, name: `Legacy tokens ${nth}` })
  }
  switch (nth % 4) {
    case 0:
      return operations.createUsersExport({ format: "csv" })
    case 1:
      return operations.listActionVersions({ actionId })
    case 2:
      return operations.redeliverEvent({ id: redelivering, event_id: id("evt", nth) })
    default:
      return operations.deleteEventStream({ id: id("est", nth) })
  }
}

/** An event that can be redelivered and a stream that can be deleted for every call; it takes what is its own. */
export const seedFor = ({ calls }: Limit): Tenant.Seed => {
  const all = Array.from({ length: calls }, (_, nth) => nth)
  return {
    actions: Tenant.demo.actions,
    profiles: Tenant.demo.profiles,
    streams: [
      { id: redelivering, events: all.map((nth) => ({ id: id("evt", nth), state: "failed" })) },
      ...all.map((nth) => ({ id: id("est", nth), events: [] }))
    ]
  }
}

/** Compares what the jobs say about their events with what has arrived at the tenants. */
import type { Seen } from "./service.js"
import { positionOf, type Work } from "./settings.js"

/** What became of the events. */
export interface Verdict {
  /** Events that arrived more than once. */
  readonly sentTwice: number
  /** Events that did not arrive, and are neither unknown nor failed. */
  readonly lost: number
  readonly unknown: number
  /** Unknown events that arrived. */
  readonly unknownArrived: number
  /** How many events are unknown for which reason. */
  readonly reasons: Readonly<Record<string, number>>
  readonly failed: number
  /** Accepted calls in a tenant's own time, relative to what its bucket allows: of the worst one. */
  readonly worstGoodput: number
  readonly refused: number
  readonly tokens: number
}

/** The outcomes of a tenant's events. */
export type Outcomes = Iterable<readonly [id: string, outcome: string, reason: string]>

const goodputOf = ({ arrivals, first, last }: Seen, { burst, rate }: Work): number => {
  const accepted = arrivals.reduce((sum, count) => sum + count, 0)
  return Math.max(0, accepted - burst) * 1000 / rate / Math.max(1, last - first)
}

export const check = (work: Work, seen: ReadonlyArray<Seen>, outcomes: ReadonlyArray<Outcomes>): Verdict => {
  let [sentTwice, lost, unknown, unknownArrived, failed] = [0, 0, 0, 0, 0]
  const reasons: Record<string, number> = {}
  seen.forEach(({ arrivals }, tenant) => {
    const byPosition = new Map<number, string>()
    for (const [id, outcome, reason] of outcomes[tenant] ?? []) {
      byPosition.set(positionOf(id), outcome)
      if (outcome === "unknown") reasons[reason] = (reasons[reason] ?? 0) + 1
    }
    arrivals.forEach((count, position) => {
      const outcome = byPosition.get(position)
      if (count > 1) sentTwice++
      if (count === 0 && outcome !== "unknown" && outcome !== "failed") lost++
      if (outcome === "unknown") unknown++
      if (outcome === "unknown" && count > 0) unknownArrived++
      if (outcome === "failed") failed++
    })
  })
  return {
    sentTwice,
    lost,
    unknown,
    unknownArrived,
    reasons,
    failed,
    worstGoodput: Math.min(...seen.map((tenant) => goodputOf(tenant, work))),
    refused: seen.reduce((sum, { refused }) => sum + refused, 0),
    tokens: seen.reduce((sum, { tokens }) => sum + tokens, 0)
  }
}

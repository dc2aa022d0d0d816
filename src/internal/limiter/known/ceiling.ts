/** Counts the calls below a ceiling of the user's. Times are milliseconds by one clock. */
import { type Limit, reserved } from "../strategy.js"
import type { Ceiling, Resolved } from "./options.js"

/** The groups of calls that are kept. Up to this limit a ceiling counts each call by its own time. */
const maxGroups = 128

/** Calls that started one after the other. All count from the start of the last. */
export interface CallGroup {
  /** The number of its first call. */
  readonly first: number
  /** The calls without those that were given back. */
  readonly calls: number
  readonly at: number
}

/** The state of a ceiling as plain data. */
export interface CeilingSnapshot {
  /** The number of calls that have started. */
  readonly started: number
  /** The latest time seen. */
  readonly latest: number
  /** The calls of the last interval, the oldest first. */
  readonly groups: ReadonlyArray<CallGroup>
}

export class CeilingCounter implements Limit {
  readonly limit: number
  readonly interval: number
  private readonly operations: ReadonlyArray<string> | undefined
  private started = 0
  private latest = -Infinity
  private groups: ReadonlyArray<CallGroup> = []

  constructor({ interval, limit, operations }: Resolved<Ceiling>) {
    this.limit = limit
    this.interval = interval
    this.operations = operations
  }

  /** Its name in stored state. The limit is no part of it, so that a new limit counts the calls before the change. */
  get key(): string {
    return [this.interval, ...[...this.operations ?? []].sort()].join(" ")
  }

  counts(operation: string): boolean {
    return this.operations?.includes(operation) ?? true
  }

  wait(now: number, share: number, ahead: number): number {
    this.keepUp(now)
    const before = reserved(share, this.limit) + ahead
    const rounds = Math.floor(before / this.limit) * this.interval
    let missing = before % this.limit + 1 - this.limit
    for (const { calls } of this.groups) missing += calls
    if (missing <= 0) return rounds
    for (const { at, calls } of this.groups) {
      missing -= calls
      if (missing <= 0) return at + this.interval - now + rounds
    }
    return this.interval + rounds
  }

  reason(): "ceiling" {
    return "ceiling"
  }

  /** Counts calls that start now; gives the number of the last. */
  start(now: number, calls = 1): number {
    this.keepUp(now)
    const size = Math.ceil(this.limit / maxGroups)
    const groups = [...this.groups]
    for (let left = calls; left > 0;) {
      const last = groups.at(-1)
      const first = this.started + 1
      const room = last === undefined ? 0 : size - (this.started - last.first + 1)
      const added = Math.min(left, room > 0 ? room : size)
      if (last !== undefined && room > 0) groups[groups.length - 1] = { ...last, calls: last.calls + added, at: now }
      else groups.push({ first, calls: added, at: now })
      this.started += added
      left -= added
    }
    this.groups = groups
    return this.started
  }

  /** Takes the start of a call back: it was not sent. */
  giveBack(nth: number): void {
    const index = this.groups.findLastIndex(({ first }) => first <= nth)
    this.groups = this.groups.map((group, other) => other === index ? { ...group, calls: group.calls - 1 } : group)
  }

  /** Assumes that others use all of it now. */
  exhaust(now: number): void {
    this.keepUp(now)
    this.groups = []
    this.start(now, this.limit)
  }

  /** True if no call counts any more. */
  isIdle(now: number): boolean {
    this.keepUp(now)
    return this.groups.length === 0
  }

  get snapshot(): CeilingSnapshot {
    return { started: this.started, latest: this.latest, groups: this.groups }
  }

  restore({ groups, latest, started }: CeilingSnapshot): void {
    this.started = started
    this.latest = latest
    this.groups = groups
  }

  /** Moves all times back when the store's clock was set back, and forgets the calls before the last interval. */
  private keepUp(now: number): void {
    const back = this.latest - now
    this.latest = now
    if (back > 0 && back < Infinity) this.groups = this.groups.map((group) => ({ ...group, at: group.at - back }))
    if ((this.groups[0]?.at ?? Infinity) + this.interval <= now) {
      this.groups = this.groups.filter(({ at }) => at + this.interval > now)
    }
  }
}

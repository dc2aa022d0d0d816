/** Paces a tenant's calls after 429s that say nothing. Times are milliseconds by the clock of the strategy, rates calls per millisecond. */
import type { BucketReading } from "../bucketReading.js"
import type { Limit } from "../strategy.js"
import { constants, second } from "./constants.js"

const least = constants.paceLeast / second

/**
 * The pace of a tenant's calls below a limit that only refusals show, such as that of a proxy: it counts all of them. It is the congestion control of TCP, counted in calls: slow start
 * doubles the rate with each call that is served, until one is refused. From there CUBIC comes back to the refused rate quickly, stays
 * near it for long, and then leaves it behind faster and faster, so that a limit that was lifted is forgotten.
 */
export class Pace implements Limit {
  rate = constants.paceFirst / second
  /** The rate that was refused last, and the part that the rate then lost. */
  private peak = Infinity
  private drop = 0
  private isSlowStart = true
  /** The calls served since the last refusal. */
  private served = 0
  /** The last start that counts: the next one is due an interval later. */
  private startedAt: number
  private refusedAt: number
  /** The least time between a call and its response. One that took longer may have arrived later, and the next must not follow too soon. */
  private fastest = Infinity
  /** The latest time seen. */
  private latest: number
  /** The responses that it has learned from: a process of a fleet settles a call again when another one has written meanwhile. */
  private readonly settled = new WeakSet<BucketReading>()

  constructor(now: number) {
    this.startedAt = this.refusedAt = this.latest = now
  }

  /** It leaves no share to others. */
  wait(now: number, _share: number, ahead: number): number {
    this.keepUp(now)
    return Math.max(0, this.startedAt + (1 + ahead) / this.rate - now)
  }

  reason(): "pace" {
    return "pace"
  }

  start(now: number): void {
    this.keepUp(now)
    this.startedAt = now
  }

  /** Gives a start back. */
  giveBack(): void {
    this.startedAt -= 1 / this.rate
  }

  /** Learns from the response to a call that was sent at `sentAt`. Calls that were in flight together count as one refusal. */
  settle(reading: BucketReading, isRefused: boolean, sentAt: number, now: number): void {
    this.keepUp(now)
    this.fastest = Math.min(this.fastest, now - sentAt)
    this.startedAt = Math.max(this.startedAt, now - this.fastest)
    if (sentAt <= this.refusedAt || this.settled.has(reading)) return
    this.settled.add(reading)
    if (!isRefused) return this.grow()
    if (this.served > 0) this.shrink()
    else this.halve(now)
    this.served = 0
    this.refusedAt = now
  }

  private grow(): void {
    this.served++
    const fromPeak = this.served / constants.paceCallsToPeak - 1
    const cubic = this.peak * (1 + this.drop * fromPeak ** 3)
    this.isSlowStart = this.rate * 2 < cubic
    this.rate = Math.max(least, Math.min(this.rate * 2, cubic))
  }

  /** This rate is too high. The next call need not wait for the one that was refused. */
  private shrink(): void {
    this.giveBack()
    this.peak = this.rate
    this.drop = this.isSlowStart ? constants.paceDropInSlowStart : constants.paceDrop
    this.rate = Math.max(least, this.rate * (1 - this.drop))
    this.isSlowStart = false
  }

  /** Nothing was served since the last refusal, so the limit is far lower, or serves nothing for a time. */
  private halve(now: number): void {
    this.startedAt = now
    this.rate = Math.max(least, this.rate / 2)
    this.isSlowStart = true
  }

  /** True when calls need no pace any more. */
  get isOver(): boolean {
    return this.rate > Math.min(1, this.peak * constants.paceForgotten)
  }

  /** Moves all times back when the store's clock was set back. */
  private keepUp(now: number): void {
    const back = Math.max(0, this.latest - now)
    this.latest = now
    this.startedAt -= back
    this.refusedAt -= back
  }
}

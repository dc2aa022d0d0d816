/**
 * What a client believes of a bucket that it is told of only by the headers of answers: how many calls are left, how fast
 * they come back, and whether somebody else takes some. Times are local milliseconds, rates calls per millisecond.
 */
import { Place, Queue } from "../runtime/linkedList.js"
import { Windows } from "./fixedWindow.js"
import type { Known, Supply, Taken, Told } from "./rateLimitHeaders.js"

/**
 * The part of what a call leaves of a full bucket, one call at most, that is kept back besides the call itself: when nobody
 * else is known to use the bucket, so that a newcomer finds calls left; and when somebody is, near the middle: as far from
 * a refusal as from a full bucket, where calls are lost.
 */
const margin = { alone: 0.7, shared: 0.45 }

/** What is kept back of a large bucket that is shared, for each root of its calls: so many may come at the same moment. */
const cushion = 0.4

/** The part of what is left that may be in flight at once: two clients do not overrun the bucket at their first burst. */
const burst = 0.4

/** So many answers are kept to measure the rate, so far apart; over fewer milliseconds one would measure the network. */
const [memory, gap] = [32, 50]

/** Before anything is measured a bucket is not believed to fill in less, in seconds. */
const soonest = 1

/** The part of the first guess of the growth that is one's own where the first answer shows that somebody else is there. */
const share = 0.5

/** By what the growth is multiplied when calls that wait find the bucket full time and again, and nobody else uses it. */
const rise = 1.14

/** So many calls in a row that waited and found the bucket full show that nobody else uses it any more. */
const proof = 2

/** What a refusal leaves of the growth: one that shows that the bucket is shared, and each further one. */
const cut = { first: 0.88, again: 0.73 }

/** What a refusal leaves of the measured rate, except the first. */
const doubt = 0.9

/** How much of an unexpected use or rest is taken to last, and the largest part of the growth that one answer takes. */
const [lasting, loss] = [0.8, 0.4]

/** How much is spent at once of what a shared bucket surprisingly has left: the others see it too. */
const spend = 0.6

/** How much of the one call that was missing is believed to be there after a refusal. */
const afterRefusal = 0.5

/** How far below what an answer allows the level is believed to be when it was believed to be above. */
const afterSurprise = 1

/** The slowest rate that is believed: every wait is finite. The growth never sinks below that part of the measured rate. */
const [slowest, least] = [1e-6, 0.4]

/** How often it looks whether a call in flight has ended that ends without a word, in milliseconds. */
const glance = 100

const second = 1000

/** What is remembered of a call until its answer. */
class Ticket extends Place<Ticket> {
  sentAt: number
  /** How many calls had ended when it started. */
  readonly ended: number
  /** Whether it was held back by the belief, so that its answer shows how true that is. */
  readonly wasHeld: boolean

  constructor(sentAt: number, ended: number, wasHeld: boolean) {
    super()
    this.sentAt = sentAt
    this.ended = ended
    this.wasHeld = wasHeld
  }
}

/** An answer as bounds of `left + own calls`: it grows at the bucket's rate if nobody else takes calls. */
interface Mark {
  sentAt: number
  endedAt: number
  readonly low: number
  readonly high: number
}

/** `learned.ts` saves the plain members by their names, private or not; those that are not, it also sets right by itself. */
export class Belief implements Supply {
  limit: number | undefined = undefined
  /** The calls left at `at`, those in flight taken off; and how fast they come back, less what others take. */
  private level = 0
  private at = 0
  private growth = slowest
  /** The greatest rate that the own calls have proved. */
  private rate = slowest
  private isShared = false
  /** The calls left by the last answer, at `stockAt`, less those started since. */
  private stock = 0
  private stockAt = 0
  /** How long a call takes. */
  private trip = 0
  started = 0
  ended = 0
  private served = 0
  private refused = 0
  private blockedUntil = -Infinity
  /** The latest time seen. */
  private latest = -Infinity
  private lastSentAt = 0
  private cutAt = -Infinity
  /** How many calls that waited have found the bucket full, one after the other. */
  private fulls = 0
  private isRecovering = false
  /** Where nothing is told: how many may be in flight, and refusals in a row. */
  private room = 1
  private row = 0
  private readonly underWay = new Queue<Ticket>()
  readonly marks: Array<Mark> = []
  readonly windows = new Windows()

  /** No more is left than so many calls. */
  cap(calls: number, now: number): void {
    this.take(0, now)
    this.level = Math.min(this.level, calls)
    this.stock = Math.min(this.stock, calls)
  }

  wait(now: number, reserve: number, ahead: number): number {
    this.keepUp(now)
    if (now < this.blockedUntil) return this.blockedUntil - now
    const { limit } = this
    if (limit === undefined) return this.started - this.ended < this.room ? 0 : Infinity
    return Math.max(this.waitForRoom(now), this.waitForLevel(limit, now, reserve, ahead))
  }

  pausedFor(now: number): number {
    return Math.max(0, this.blockedUntil - now)
  }

  /**
   * How long until one more may be in flight: when one ends, or, because calls may hang, when more has come back. Who shares
   * the bucket is taken to have as many in flight.
   */
  private waitForRoom(now: number): number {
    const inFlight = this.started - this.ended
    const pace = Math.min(this.growth, this.rate)
    const left = this.stock + (this.isShared ? 0 : inFlight) + Math.max(0, now - this.stockAt) * pace
    const missing = inFlight + 1 - Math.max(1, left * burst + this.rate * this.trip)
    return missing > 0 ? Math.min(missing / (pace * burst), Math.max(this.trip, glance)) : 0
  }

  private waitForLevel(limit: number, now: number, reserve: number, ahead: number): number {
    if (this.windows.isFound) {
      const missing = reserve + ahead + 1 - this.level
      if (missing <= 0) return 0
      const { endsAt, lasts } = this.windows
      return Math.max(0, endsAt - now) + Math.floor(Math.max(0, ahead - Math.max(0, this.level)) / limit) * lasts
    }
    const most = this.isShared ? Math.max(1, Math.sqrt(limit) * cushion) : 1
    const kept = Math.min(most, (limit - 1) * (this.isShared ? margin.shared : margin.alone))
    const missing = Math.min(1 + kept + reserve, limit) + ahead - this.levelAt(limit, now)
    return missing <= 1e-6 ? 0 : missing / this.growth
  }

  start(now: number, held: boolean, sentAt = now): Taken {
    this.keepUp(now)
    if (this.started === this.ended) this.stockAt = now // what came back while nothing was asked is not known to be there
    const ticket = new Ticket(sentAt, this.ended, held && now > this.blockedUntil + gap)
    this.underWay.add(ticket)
    this.started++
    this.take(1, now)
    return {
      giveBack: (now) => {
        this.underWay.remove(ticket)
        this.ended++
        this.take(-1, now)
      },
      answered: (told, now) => this.answered(ticket, told, now)
    }
  }

  known(now: number): Known | undefined {
    const { limit } = this
    if (limit === undefined) return undefined
    const level = this.levelAt(limit, now)
    return {
      limit,
      remaining: Math.max(0, Math.floor(level + 1e-6)),
      fullAt: this.windows.isFound ? this.windows.endsAt : now + Math.max(0, Math.ceil((limit - level) / this.growth))
    }
  }

  private take(calls: number, now: number): void {
    if (this.limit === undefined) return
    this.level = this.levelAt(this.limit, now) - calls
    this.at = Math.max(this.at, now)
    this.stock -= calls
  }

  /** If the clock was set back, all times go back with it. */
  private keepUp(now: number): void {
    const back = this.latest - now
    this.latest = now
    if (back <= 0 || back === Infinity) return
    this.at -= back
    this.stockAt -= back
    this.blockedUntil -= back
    this.lastSentAt -= back
    this.cutAt -= back
    for (const ticket of this.underWay) ticket.sentAt -= back
    for (const mark of this.marks) {
      mark.sentAt -= back
      mark.endedAt -= back
    }
    this.windows.shift(back)
  }

  /** Windows do not refill. */
  private levelAt(limit: number, now: number): number {
    const grown = this.windows.isFound ? 0 : Math.max(0, now - this.at) * this.growth
    return Math.min(limit, this.level + grown)
  }

  private answered(ticket: Ticket, told: Told | undefined, now: number): void {
    this.keepUp(now)
    // Other calls that may have been counted before or after it.
    const overlap = Math.max(0, this.started - ticket.ended - 1)
    this.underWay.remove(ticket)
    this.ended++
    if (told === undefined) return
    const { isRefused } = told
    if (isRefused) this.refused++
    else this.served++
    this.trip = this.trip === 0 ? now - ticket.sentAt : this.trip * 0.8 + (now - ticket.sentAt) * 0.2
    if (told.pause !== undefined) this.blockedUntil = Math.max(this.blockedUntil, now + told.pause)
    const limit = told.limit ?? this.limit
    if (limit === undefined) return this.countBlindly(ticket, told, now)
    const ahead = Math.max(0, told.untilFull ?? 0)
    const left = told.remaining === undefined ? undefined : Math.min(limit - 1, told.remaining)
    if (this.limit === undefined) this.begin(limit, left ?? 0, overlap, ahead, now)
    this.limit = limit
    this.take(0, now)
    if (left !== undefined && told.untilFull !== undefined) {
      const reset = told.untilFull + (told.date ?? Math.floor(now / second))
      this.windows.note({ reset, ahead, limit, left }, isRefused, now)
    }
    if (isRefused) this.refuse(ticket)
    else if (left !== undefined) this.resync(ticket, limit, left, left - overlap, ahead, now)
    this.lastSentAt = ticket.sentAt
  }

  /** Without any header: one call first, one more in flight for each that is served; after refusals a pause, and half. */
  private countBlindly(ticket: Ticket, told: Told, now: number): void {
    if (told.isRefused && ticket.sentAt > this.cutAt) {
      this.room = Math.max(1, Math.floor((this.started - this.ended + 1) / 2))
      this.blockedUntil = Math.max(this.blockedUntil, now + second * 2 ** Math.min(6, this.row++))
      this.cutAt = now
    } else if (!told.isRefused && told.isServed) {
      this.room++
      this.row = 0
    }
  }

  /** The first that is told: at the least, and at the best guess, as much comes back until the reset as is missing. */
  private begin(limit: number, left: number, overlap: number, ahead: number, now: number): void {
    this.level = left - overlap
    this.at = this.lastSentAt = this.stockAt = now
    this.rate = Math.max(slowest, (limit - left) / (ahead + 1) / second)
    this.growth = Math.max(this.rate, (limit - left) / Math.max(soonest, ahead - 1) / second)
    this.isShared = left < limit - 1
    if (this.isShared) this.growth *= share
  }

  /** A refusal: nothing is left, and (once for all calls that were in flight) others take more than believed. */
  private refuse(ticket: Ticket): void {
    this.level = Math.min(afterRefusal, this.level + 1)
    this.stock = Math.min(0, this.stock)
    this.fulls = 0
    this.isRecovering = true
    if (this.windows.isFound) {
      this.windows.refuse(this.at)
      this.level = 0
      return
    }
    if (ticket.sentAt > this.cutAt) {
      if (this.isShared) {
        // Again: what proved the rate may have been a mistake, answers of another bucket, or a limit that was higher then.
        this.rate = Math.max(slowest, this.rate * doubt)
        this.marks.length = 0
      }
      this.growth = Math.max(this.rate * least, this.growth * (this.isShared ? cut.again : cut.first))
      this.cutAt = this.at
    }
    this.isShared = true
  }

  /** Brings the level within what an answer allows, which is `low` at least, and learns from how far off it was. */
  private resync(ticket: Ticket, limit: number, left: number, low: number, ahead: number, now: number): void {
    const isFull = left >= limit - 1
    this.stock = low
    this.stockAt = now
    if (this.windows.isFound) {
      this.level = Math.min(left, Math.max(low, this.windows.isNew ? left : this.level))
      return
    }
    const guess = (limit - left) / (ahead + 1) / second
    this.rate = Math.max(this.rate, guess)
    const high = left + (isFull ? 0 : 1) + this.growth * (now - ticket.sentAt)
    const since = Math.max(gap, ticket.sentAt - this.lastSentAt)
    if (this.level > high) this.expectLess(this.level - high, low, high, since)
    else if (this.level < low) this.expectMore(ticket, isFull, low, since)
    if (ticket.wasHeld) this.fulls = isFull && !this.isRecovering ? this.fulls + 1 : 0
    if (this.isShared && this.fulls >= proof) {
      this.isShared = false
      this.growth = this.rate
    }
    // Full time and again though calls wait: the belief is right and yet too slow. A limit of one is always told as full.
    if (!this.isShared && limit > 1 && this.fulls > proof) this.growth *= rise
    this.isRecovering = false
    this.measure(ticket, left, isFull, now)
  }

  /** Somebody else has taken calls. */
  private expectLess(excess: number, low: number, high: number, since: number): void {
    const less = Math.min(this.growth * loss, lasting * excess / since)
    this.growth = Math.max(this.rate * least, this.growth - less)
    this.level = Math.max(low, high - afterSurprise)
    this.isShared = true
  }

  /** More is left than there could have been. */
  private expectMore(ticket: Ticket, isFull: boolean, low: number, since: number): void {
    const more = low - this.level
    if (ticket.wasHeld && !isFull) this.growth += Math.min(this.growth, lasting * more / since)
    this.level = this.isShared && isFull && ticket.wasHeld ? this.level + more * spend : low
  }

  /**
   * The rate is at least what own calls show between two of them, one of which was sent after the other was answered: else
   * what somebody else took in between would look like refill. A full bucket leaves nothing to guess.
   */
  private measure(ticket: Ticket, left: number, isFull: boolean, now: number): void {
    const mark = {
      sentAt: ticket.sentAt,
      endedAt: now,
      low: left + Math.min(this.served, ticket.ended + 1 - this.refused),
      high: left + (isFull ? 0 : 1) + this.started - this.refused
    }
    for (const { endedAt, high, sentAt } of this.marks) {
      const span = now - sentAt
      if (ticket.sentAt >= endedAt && span > gap) this.rate = Math.max(this.rate, (mark.low - high) / span)
    }
    if (!this.isShared) this.growth = Math.max(this.growth, this.rate)
    if (now - (this.marks.at(-1)?.endedAt ?? -Infinity) < gap) return
    this.marks.push(mark)
    if (this.marks.length > memory) this.marks.shift()
  }
}

/** Nothing is known yet: it lets one call go. */
export const make = (): Belief => new Belief()

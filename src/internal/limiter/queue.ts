/** Who waits for leave to send: first come, first served, with one alarm for all who wait. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { type AnyFiber, onExit, type Restore } from "../runtime/fiber.js"
import { Place, Queue } from "../runtime/linkedList.js"
import * as Alarm from "../runtime/timer.js"
import { type Answer, type Call, type Supply, type Told, told } from "./rateLimitHeaders.js"

/** Who grants calls. `Lane` is what it knows of the calls of one kind, `Permit` a call that it has let go. */
export interface Source<Lane, Permit> {
  readonly laneOf: (call: Call) => Lane
  /** All that there are, in the order in which they came. */
  readonly lanes: () => Iterable<Lane>
  /** What the calls of a lane draw on, as far as it is known. */
  readonly supplyOf: (lane: Lane) => Pick<Supply, "known"> | undefined
  /** Whether the next call goes before the others, because it shows what to count on. */
  readonly isFirst: (lane: Lane) => boolean
  /**
   * In how many milliseconds a call may start that leaves `share` of the limit, and `ahead` calls, to others, when it has
   * waited for so long; 0: now; `Infinity`: not before a call ends.
   */
  readonly wait: (lane: Lane, now: number, share: number, ahead: number, waited: number) => number
  /** A call starts; `held`: it had to wait for its turn. */
  readonly start: (lane: Lane, now: number, held: boolean) => Permit
  /** A call was not sent after all. */
  readonly giveBack: (permit: Permit, now: number) => void
  /** A call is over; `undefined`: no answer came. */
  readonly answered: (permit: Permit, told: Told | undefined, now: number) => void
}

export interface Options<Lane, E> {
  /** How long a call may wait, in milliseconds. */
  readonly maxWait: number
  /** The share of a limit that background calls leave to others. */
  readonly reserve: number
  /** Why a call may not start: it would wait for so many milliseconds; or, with `undefined`, the gate is closed. */
  readonly refused: (call: Call, wait: number | undefined, lane: Lane, now: number) => E
}

export interface Gate<Lane, E = unknown> {
  /**
   * Waits until a fiber's call may start; it fails at once if that takes too long, and when the gate is closed. To be run
   * where nobody can interrupt but within `restore`. Interrupted, it has taken nothing.
   */
  readonly enter: (call: Call, isBackground: boolean, fiber: AnyFiber, restore: Restore) => Effect.Effect<void, E>
  /** A call that was let in is over. */
  readonly leave: (call: Call, answer: Answer | undefined) => void
  readonly waiting: (lane: Lane) => number
  /** The lines that calls wait in, first come, first served. */
  readonly lines: () => Iterable<Iterable<Waiting<Lane>>>
  /** Looks again who may go: something has changed that no call has told of. */
  readonly wake: () => void
}

/** A call that waits. */
export interface Waiting<Lane> {
  readonly lane: Lane
  /** Its number: who came before has a lower one. */
  readonly nth: number
  readonly since: number
  readonly isBackground: boolean
}

/** A call that was let in. */
interface Entry<Permit> {
  readonly permit: Permit
  /** Stops watching the fiber that makes it. */
  readonly unwatch: () => void
  /** The next that was let in with the same object. */
  next: Entry<Permit> | undefined
}

class Waiter<Lane, E> extends Place<Waiter<Lane, E>> implements Waiting<Lane> {
  /** Ends its wait. */
  resume: (leave: Effect.Effect<void, E>) => void = () => {}
  /** Whether it had to wait for what its calls draw on. */
  held = false
  readonly call: Call
  readonly lane: Lane
  readonly isBackground: boolean
  readonly fiber: AnyFiber
  readonly nth: number
  readonly since: number

  constructor(call: Call, lane: Lane, isBackground: boolean, fiber: AnyFiber, nth: number, since: number) {
    super()
    this.call = call
    this.lane = lane
    this.isBackground = isBackground
    this.fiber = fiber
    this.nth = nth
    this.since = since
  }
}

/** No sleep is shorter, in milliseconds: a mistaken estimate cannot make it spin. None is longer without looking again. */
const [floor, ceiling] = [20, 3_600_000]

/** What a call is told to wait for that waits for the end of another, in milliseconds. */
const unknown = 1000

export const make = <Lane, Permit, E>(
  source: Source<Lane, Permit>,
  { maxWait, refused, reserve }: Options<Lane, E>,
  changed: () => void
): Effect.Effect<Gate<Lane, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    type One = Waiter<Lane, E>
    type Line = readonly [interactive: Queue<One>, background: Queue<One>]
    const lines = new Map<Lane, Line>()
    const entries = new WeakMap<Call, Entry<Permit>>()
    let count = 0
    let waiting = 0
    let isClosed = false
    let chance = yield* Random.next

    const lineOf = (lane: Lane): Line => {
      const line = lines.get(lane) ?? [new Queue(), new Queue()]
      lines.set(lane, line)
      return line
    }

    /** How many wait that go before a new call. */
    const ahead = (lane: Lane, isBackground: boolean): number => {
      const supply = source.supplyOf(lane)
      let sum = 0
      for (const [other, [interactive, background]] of lines) {
        if (source.supplyOf(other) === supply) sum += interactive.size + (isBackground ? background.size : 0)
      }
      return sum
    }

    const goesBefore = (one: One, other: One): boolean => {
      const [isFirst, isOtherFirst] = [source.isFirst(one.lane), source.isFirst(other.lane)]
      if (isFirst !== isOtherFirst) return isFirst
      return one.isBackground === other.isBackground ? one.nth < other.nth : other.isBackground
    }

    const waitOf = ({ isBackground, lane, since }: One, now: number): number =>
      source.wait(lane, now, isBackground ? reserve : 0, 0, now - since)

    const queueOf = ({ isBackground, lane }: One): Queue<One> => lineOf(lane)[isBackground ? 1 : 0]

    /** Leaves its line; `false` if it has left before. */
    const leaves = (one: One): boolean => {
      const hasLeft = queueOf(one).remove(one)
      if (hasLeft) waiting--
      return hasLeft
    }

    const refusal = (call: Call, wait: number | undefined, lane: Lane) =>
      Effect.fail(refused(call, wait, lane, alarm.now()))

    /** Sends the head of a line away. */
    const turnAway = (one: One, wait: number | undefined): void => {
      leaves(one)
      one.resume(refusal(one.call, wait, one.lane))
    }

    const letGo = (one: One, now: number): void => {
      leaves(one)
      letIn(one.call, source.start(one.lane, now, one.held), one.fiber)
      one.resume(Effect.void)
    }

    /** Who may go now; else in how many milliseconds to look again. */
    const next = (now: number): One | number => {
      let best: One | undefined
      let soonest = Infinity
      for (const line of lines.values()) {
        for (const { first } of line) {
          if (first === undefined) continue
          const wait = waitOf(first, now)
          if (wait <= 0 && (best === undefined || goesBefore(first, best))) best = first
          if (wait > 0) {
            first.held = true
            soonest = Math.min(soonest, wait, first.since + maxWait - now)
          }
        }
      }
      return best ?? soonest
    }

    /** Refuses those at the head of their lines whose wait would be too long. */
    const refuse = (now: number): void => {
      for (const line of lines.values()) {
        for (const queue of line) {
          for (let { first } = queue; first !== undefined; first = queue.first) {
            const left = first.since + maxWait - now
            const wait = waitOf(first, now)
            // Our own jitter may make it a little late. Who may go now goes.
            if (wait <= Math.max(0, left + 2 * floor) || (wait === Infinity && left > 0)) break
            turnAway(first, wait === Infinity ? unknown : wait)
          }
        }
      }
    }

    const settle = (): void => {
      if (waiting === 0) {
        alarm.clear()
        return changed()
      }
      const now = alarm.now()
      if (maxWait < Infinity) refuse(now)
      let found = next(now)
      for (; typeof found !== "number"; found = next(now)) letGo(found, now)
      // A little later, so that callers of several processes do not come back at once.
      if (found < Infinity) alarm.set(now + Math.min(Math.max(found, floor), ceiling) + chance * floor)
      else alarm.clear()
      changed()
    }

    /** Takes out the given entry of a call, else its oldest. */
    const takeOut = (call: Call, entry?: Entry<Permit>): Entry<Permit> | undefined => {
      const oldest = entries.get(call)
      if (oldest === undefined) return undefined
      const taken = entry ?? oldest
      if (taken !== oldest) {
        let before = oldest
        while (before.next !== undefined && before.next !== taken) before = before.next
        before.next = taken.next
      } else if (taken.next === undefined) entries.delete(call)
      else entries.set(call, taken.next)
      taken.unwatch()
      return taken
    }

    /**
     * Lets a call in. A fiber that is interrupted just then never learns of it: what it has taken is given back when it ends
     * so, unless it has told how its call ended.
     */
    const letIn = (call: Call, permit: Permit, fiber: AnyFiber): void => {
      const lost = (exit: Exit.Exit<unknown, unknown>): void => {
        if (!Exit.isInterrupted(exit)) return
        takeOut(call, entry)
        source.giveBack(permit, alarm.now())
        settle()
      }
      const entry: Entry<Permit> = { permit, unwatch: onExit(fiber, lost), next: undefined }
      let newest = entries.get(call)
      if (newest === undefined) entries.set(call, entry)
      else {
        while (newest.next !== undefined) newest = newest.next
        newest.next = entry
      }
    }

    const alarm = yield* Alarm.make(Effect.map(Random.next, (next) => {
      chance = next
      settle()
    }))

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        for (const line of lines.values()) {
          for (const queue of line) {
            for (let { first } = queue; first !== undefined; first = queue.first) turnAway(first, undefined)
          }
        }
      })
    )

    const wait = (one: One, restore: Restore): Effect.Effect<void, E> => {
      const turn = Effect.async<void, E>((resume) => {
        if (isClosed) return resume(refusal(one.call, undefined, one.lane)) // since it was asked
        one.resume = resume
        queueOf(one).add(one)
        waiting++
        settle()
      })
      return Effect.catchAllCause(restore(turn), (cause) => {
        if (leaves(one)) settle() // interrupted
        return Effect.failCause(cause)
      })
    }

    return {
      enter: (call, isBackground, fiber, restore) => {
        const now = alarm.now()
        const lane = source.laneOf(call)
        if (isClosed) return refusal(call, undefined, lane)
        const others = waiting === 0 ? 0 : ahead(lane, isBackground)
        const millis = source.wait(lane, now, isBackground ? reserve : 0, others, 0)
        if (millis <= 0 && waiting === 0) {
          letIn(call, source.start(lane, now, false), fiber)
          changed()
          return Effect.void
        }
        return millis > maxWait && millis < Infinity
          ? refusal(call, millis, lane)
          : wait(new Waiter<Lane, E>(call, lane, isBackground, fiber, count++, now), restore)
      },
      leave: (call, answer) => {
        const entry = takeOut(call)
        if (entry === undefined) return
        const now = alarm.now()
        source.answered(entry.permit, answer === undefined ? undefined : told(answer, now), now)
        settle()
      },
      waiting: (lane) => {
        const [interactive, background] = lineOf(lane)
        return interactive.size + background.size
      },
      lines: () => Array.from(lines.values()).flat(),
      wake: settle
    }
  })

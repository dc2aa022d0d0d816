/** Who waits for leave to send: first come, first served, with one timer for all who wait. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { type AnyFiber, onExit, type Restore } from "../runtime/fiber.js"
import { LinkedList, LinkedNode } from "../runtime/linkedList.js"
import * as Timer from "../runtime/timer.js"
import type { Bucket } from "./bucket.js"
import type { Call, LimitedResponse } from "./permit.js"
import { type RateLimitReading, readRateLimit } from "./rateLimitHeaders.js"

/** Who grants calls. `State` is what it knows of the calls of one kind, `Grant` a call that it has let go. */
export interface LimitStrategy<State, Grant> {
  readonly stateOf: (call: Call) => State
  /** All that there are, in the order in which they came. */
  readonly states: () => Iterable<State>
  /** What the calls of a state draw on, as far as it is known. */
  readonly bucketOf: (state: State) => Pick<Bucket, "status"> | undefined
  /** Whether the next call goes before the others, because it shows what to count on. */
  readonly isFirst: (state: State) => boolean
  /**
   * In how many milliseconds a call may start that leaves `share` of the limit, and `ahead` calls, to others, when it has
   * waited for so long; 0: now; `Infinity`: not before a call ends.
   */
  readonly wait: (state: State, now: number, share: number, ahead: number, waited: number) => number
  /** A call starts; `held`: it had to wait for its turn. */
  readonly start: (state: State, now: number, held: boolean) => Grant
  /** A call was not sent after all. */
  readonly giveBack: (grant: Grant, now: number) => void
  /** A call is over; `undefined`: no answer came. */
  readonly settle: (grant: Grant, told: RateLimitReading | undefined, now: number) => void
}

export interface Options<State, E> {
  /** How long a call may wait, in milliseconds. */
  readonly maxWait: number
  /** The share of a limit that background calls leave to others. */
  readonly reserve: number
  /** Why a call may not start: it would wait for so many milliseconds; or, with `undefined`, the gate is closed. */
  readonly refused: (call: Call, wait: number | undefined, state: State, now: number) => E
}

export interface CallQueue<State, E = unknown> {
  /**
   * Waits until a fiber's call may start; it fails at once if that takes too long, and when the gate is closed. To be run
   * where nobody can interrupt but within `restore`. Interrupted, it has taken nothing.
   */
  readonly enter: (call: Call, isBackground: boolean, fiber: AnyFiber, restore: Restore) => Effect.Effect<void, E>
  /** A call that was let in is over. */
  readonly leave: (call: Call, answer: LimitedResponse | undefined) => void
  readonly waiting: (state: State) => number
  /** The lines that calls wait in, first come, first served. */
  readonly queues: () => Iterable<Iterable<Waiting<State>>>
  /** Looks again who may go: something has changed that no call has told of. */
  readonly wake: () => void
}

/** A call that waits. */
export interface Waiting<State> {
  readonly state: State
  /** Its number: who came before has a lower one. */
  readonly nth: number
  readonly since: number
  readonly isBackground: boolean
}

/** A call that was let in. */
interface Entry<Grant> {
  readonly grant: Grant
  /** Stops watching the fiber that makes it. */
  readonly unwatch: () => void
  /** The next that was let in with the same object. */
  next: Entry<Grant> | undefined
}

class Waiter<State, E> extends LinkedNode<Waiter<State, E>> implements Waiting<State> {
  /** Ends its wait. */
  resume: (leave: Effect.Effect<void, E>) => void = () => {}
  /** Whether it had to wait for what its calls draw on. */
  held = false
  readonly call: Call
  readonly state: State
  readonly isBackground: boolean
  readonly fiber: AnyFiber
  readonly nth: number
  readonly since: number

  constructor(call: Call, state: State, isBackground: boolean, fiber: AnyFiber, nth: number, since: number) {
    super()
    this.call = call
    this.state = state
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

export const make = <State, Grant, E>(
  source: LimitStrategy<State, Grant>,
  { maxWait, refused, reserve }: Options<State, E>,
  changed: () => void
): Effect.Effect<CallQueue<State, E>, never, Scope.Scope> =>
  Effect.gen(function*() {
    type One = Waiter<State, E>
    type Line = readonly [interactive: LinkedList<One>, background: LinkedList<One>]
    const lines = new Map<State, Line>()
    const entries = new WeakMap<Call, Entry<Grant>>()
    let count = 0
    let waiting = 0
    let isClosed = false
    let chance = yield* Random.next

    const lineOf = (state: State): Line => {
      const line = lines.get(state) ?? [new LinkedList(), new LinkedList()]
      lines.set(state, line)
      return line
    }

    /** How many wait that go before a new call. */
    const ahead = (state: State, isBackground: boolean): number => {
      const supply = source.bucketOf(state)
      let sum = 0
      for (const [other, [interactive, background]] of lines) {
        if (source.bucketOf(other) === supply) sum += interactive.size + (isBackground ? background.size : 0)
      }
      return sum
    }

    const goesBefore = (one: One, other: One): boolean => {
      const [isFirst, isOtherFirst] = [source.isFirst(one.state), source.isFirst(other.state)]
      if (isFirst !== isOtherFirst) return isFirst
      return one.isBackground === other.isBackground ? one.nth < other.nth : other.isBackground
    }

    const waitOf = ({ isBackground, state, since }: One, now: number): number =>
      source.wait(state, now, isBackground ? reserve : 0, 0, now - since)

    const queueOf = ({ isBackground, state }: One): LinkedList<One> => lineOf(state)[isBackground ? 1 : 0]

    /** Leaves its line; `false` if it has left before. */
    const leaves = (one: One): boolean => {
      const hasLeft = queueOf(one).remove(one)
      if (hasLeft) waiting--
      return hasLeft
    }

    const refusal = (call: Call, wait: number | undefined, state: State) =>
      Effect.fail(refused(call, wait, state, timer.now()))

    /** Sends the head of a line away. */
    const turnAway = (one: One, wait: number | undefined): void => {
      leaves(one)
      one.resume(refusal(one.call, wait, one.state))
    }

    const letGo = (one: One, now: number): void => {
      leaves(one)
      letIn(one.call, source.start(one.state, now, one.held), one.fiber)
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
        timer.clear()
        return changed()
      }
      const now = timer.now()
      if (maxWait < Infinity) refuse(now)
      let found = next(now)
      for (; typeof found !== "number"; found = next(now)) letGo(found, now)
      // A little later, so that callers of several processes do not come back at once.
      if (found < Infinity) timer.set(now + Math.min(Math.max(found, floor), ceiling) + chance * floor)
      else timer.clear()
      changed()
    }

    /** Takes out the given entry of a call, else its oldest. */
    const takeOut = (call: Call, entry?: Entry<Grant>): Entry<Grant> | undefined => {
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
    const letIn = (call: Call, grant: Grant, fiber: AnyFiber): void => {
      const lost = (exit: Exit.Exit<unknown, unknown>): void => {
        if (!Exit.isInterrupted(exit)) return
        takeOut(call, entry)
        source.giveBack(grant, timer.now())
        settle()
      }
      const entry: Entry<Grant> = { grant, unwatch: onExit(fiber, lost), next: undefined }
      let newest = entries.get(call)
      if (newest === undefined) entries.set(call, entry)
      else {
        while (newest.next !== undefined) newest = newest.next
        newest.next = entry
      }
    }

    const timer = yield* Timer.make(Effect.map(Random.next, (next) => {
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
        if (isClosed) return resume(refusal(one.call, undefined, one.state)) // since it was asked
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
        const now = timer.now()
        const state = source.stateOf(call)
        if (isClosed) return refusal(call, undefined, state)
        const others = waiting === 0 ? 0 : ahead(state, isBackground)
        const millis = source.wait(state, now, isBackground ? reserve : 0, others, 0)
        if (millis <= 0 && waiting === 0) {
          letIn(call, source.start(state, now, false), fiber)
          changed()
          return Effect.void
        }
        return millis > maxWait && millis < Infinity
          ? refusal(call, millis, state)
          : wait(new Waiter<State, E>(call, state, isBackground, fiber, count++, now), restore)
      },
      leave: (call, answer) => {
        const entry = takeOut(call)
        if (entry === undefined) return
        const now = timer.now()
        source.settle(entry.grant, answer === undefined ? undefined : readRateLimit(answer, now), now)
        settle()
      },
      waiting: (state) => {
        const [interactive, background] = lineOf(state)
        return interactive.size + background.size
      },
      queues: () => Array.from(lines.values()).flat(),
      wake: settle
    }
  })

/** Who waits for leave to send: first come, first served, with one alarm for all who wait. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Alarm from "./alarm.js"
import { Queue } from "./queue.js"
import { type Answer, type Call, type Supply, type Told, told } from "./supply.js"

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

export interface Options {
  /** How long a call may wait, in milliseconds. */
  readonly maxWait: number
  /** The share of a limit that background calls leave to others. */
  readonly reserve: number
}

export interface Gate<Lane> {
  /**
   * Waits until a fiber's call may start. It fails at once if that takes too long, with what `refused` makes of the milliseconds;
   * or, with `undefined`, when the gate is closed. Interrupted, it has taken nothing.
   */
  readonly enter: <E>(
    call: Call,
    isBackground: boolean,
    refused: (wait: number | undefined, lane: Lane, now: number) => E,
    fiber: Fiber.RuntimeFiber<unknown, unknown>
  ) => Effect.Effect<void, E>
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
  /** Forgets the fiber that makes it. */
  readonly forget: () => void
  /** The next that was let in with the same object. */
  next: Entry<Permit> | undefined
}

interface Waiter<Lane> extends Waiting<Lane> {
  /** Whether it had to wait for what its calls draw on. */
  held: boolean
  readonly leave: () => void
  readonly go: (now: number) => void
  readonly refuse: (wait: number | undefined) => void
}

/** No sleep is shorter, in milliseconds: a mistaken estimate cannot make it spin. None is longer without looking again. */
const [floor, ceiling] = [20, 3_600_000]

/** What a call is told to wait for that waits for the end of another, in milliseconds. */
const unknown = 1000

export const make = <Lane, Permit>(
  source: Source<Lane, Permit>,
  { maxWait, reserve }: Options,
  changed: () => void
): Effect.Effect<Gate<Lane>, never, Scope.Scope> =>
  Effect.gen(function*() {
    type Line = readonly [interactive: Queue<Waiter<Lane>>, background: Queue<Waiter<Lane>>]
    const lines = new Map<Lane, Line>()
    const entries = new Map<Call, Entry<Permit>>()
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

    const goesBefore = (one: Waiter<Lane>, other: Waiter<Lane>): boolean => {
      const [isFirst, isOtherFirst] = [source.isFirst(one.lane), source.isFirst(other.lane)]
      if (isFirst !== isOtherFirst) return isFirst
      return one.isBackground === other.isBackground ? one.nth < other.nth : other.isBackground
    }

    const waitOf = ({ isBackground, lane, since }: Waiter<Lane>, now: number): number =>
      source.wait(lane, now, isBackground ? reserve : 0, 0, now - since)

    /** Who may go now; else in how many milliseconds to look again. */
    const next = (now: number): Waiter<Lane> | number => {
      let best: Waiter<Lane> | undefined
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
            first.leave()
            first.refuse(wait === Infinity ? unknown : wait)
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
      for (; typeof found !== "number"; found = next(now)) {
        found.leave()
        found.go(now)
      }
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
      taken.forget()
      return taken
    }

    /**
     * Lets a call in. A fiber that is interrupted just then never learns of it: what it has taken is given back when it ends
     * so, unless it has told how its call ended.
     */
    const letIn = (call: Call, permit: Permit, fiber: Fiber.RuntimeFiber<unknown, unknown>): void => {
      const lost = (exit: Exit.Exit<unknown, unknown>): void => {
        if (!Exit.isInterrupted(exit)) return
        takeOut(call, entry)
        source.giveBack(permit, alarm.now())
        settle()
      }
      const entry: Entry<Permit> = { permit, forget: () => fiber.removeObserver(lost), next: undefined }
      let newest = entries.get(call)
      if (newest === undefined) entries.set(call, entry)
      else {
        while (newest.next !== undefined) newest = newest.next
        newest.next = entry
      }
      fiber.addObserver(lost)
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
            for (let { first } = queue; first !== undefined; first = queue.first) {
              first.leave()
              first.refuse(undefined)
            }
          }
        }
      })
    )

    const wait = <E>(
      call: Call,
      lane: Lane,
      isBackground: boolean,
      refusal: (wait: number | undefined) => Effect.Effect<never, E>,
      fiber: Fiber.RuntimeFiber<unknown, unknown>
    ): Effect.Effect<void, E> =>
      Effect.async<void, E>((resume) => {
        const queue = lineOf(lane)[isBackground ? 1 : 0]
        const leave = (): void => {
          if (queue.remove(place)) waiting--
        }
        const waiter: Waiter<Lane> = {
          lane,
          nth: count++,
          since: alarm.now(),
          isBackground,
          held: false,
          leave,
          go: (now) => {
            letIn(call, source.start(lane, now, waiter.held), fiber)
            resume(Effect.void)
          },
          refuse: (wait) => resume(refusal(wait))
        }
        const place = queue.add(waiter)
        waiting++
        settle()
        return Effect.sync(() => {
          leave()
          settle()
        })
      })

    return {
      enter: (call, isBackground, refused, fiber) => {
        const now = alarm.now()
        const lane = source.laneOf(call)
        const refusal = (wait: number | undefined) => Effect.fail(refused(wait, lane, alarm.now()))
        if (isClosed) return refusal(undefined)
        const others = waiting === 0 ? 0 : ahead(lane, isBackground)
        const millis = source.wait(lane, now, isBackground ? reserve : 0, others, 0)
        if (millis <= 0 && waiting === 0) {
          letIn(call, source.start(lane, now, false), fiber)
          changed()
          return Effect.void
        }
        return millis > maxWait && millis < Infinity
          ? refusal(millis)
          : wait(call, lane, isBackground, refusal, fiber)
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

/**
 * A limiter: queues of calls that wait for their turn, first come, first served, with one timer for all of them. The limits of one tenant
 * say nothing about another, so what happens to a call of one concerns no other.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { type Quota, RateLimited } from "../../Errors.js"
import { settingOf, withFiber } from "../runtime/fiber.js"
import { clockOffset } from "../runtime/monotonicClock.js"
import { makeSignal } from "../runtime/streams/queues.js"
import * as Timer from "../runtime/timer.js"
import { readRateLimit } from "./bucketReading.js"
import { maxPauseOf } from "./known/options.js"
import { learning } from "./learning.js"
import {
  type Call,
  type ClientCall,
  isBackgroundWork,
  type Limit,
  type LimitedResponse,
  type Limiter,
  type Options,
  type Status,
  type WaitReason
} from "./limiter.js"
import { predict } from "./prediction.js"
import { type CountAhead, idleTime, type LimitStrategy } from "./strategy.js"
import { givesWay, QueuedCall, startsBefore, type WaitingCall } from "./waitingCall.js"
import { type TenantQueue, WaitingCalls } from "./waitingCalls.js"
import * as WaitWarnings from "./waitWarnings.js"

/** The default of `reserve`. */
export const defaultReserve = 0.2

/** A limiter and the calls that wait for it. */
export interface CallQueue<State> extends Limiter {
  /** The number of calls that wait. */
  readonly waiting: (state: State) => number
  /** The calls that wait for a tenant, each list in the order of arrival. */
  readonly queues: (tenant: string) => ReadonlyArray<Iterable<WaitingCall<State>>>
  /** Looks again for calls of a tenant that may start, after a change that came from no call of this queue. */
  readonly wake: (tenant: string) => void
}

/** The limits of a sleep, in milliseconds: a wrong estimate must not make it spin, and it looks again every hour. */
const [shortestSleep, longestSleep] = [20, 3_600_000]

/** The `retryAfter` of a call refused while it waits for another call to end, in milliseconds: the real wait is unknown. */
const unknownWait = 1000

/** Makes a limiter, and closes it with the scope. */
export const make = <State extends { readonly call: Call }, Grant>(
  strategy: LimitStrategy<State, Grant>,
  options: Options
): Effect.Effect<CallQueue<State>, never, Scope.Scope> =>
  Effect.gen(function*() {
    type Waiting = QueuedCall<State>
    const { reserve = defaultReserve } = options
    const maxPause = maxPauseOf(options)
    const maxWait = Duration.toMillis(options.maxWait ?? Infinity)
    const clock = yield* Effect.clock
    const { follow, signal: changed } = yield* makeSignal
    const calls = new WaitingCalls<State>()
    let count = 0
    let isClosed = false
    let forgotAt = -Infinity
    let jitter = yield* Random.next
    const warn = yield* WaitWarnings.make

    const quotaOf = (state: State, now: number): Quota => {
      const known = strategy.statusOf(state, now)
      return known === undefined ? {} : {
        limit: known.limit,
        remaining: known.remaining,
        resetAt: Option.getOrUndefined(DateTime.make(Math.round(known.fullAt + clockOffset(clock)))) // may exceed the range of `DateTime`
      }
    }

    const shareOf = ({ isBackground }: Pick<Waiting, "isBackground">): number => isBackground ? reserve : 0

    const waitOf = (one: Waiting, now: number): number =>
      strategy.wait(one.state, now, shareOf(one), 0, now - one.since)

    /** The milliseconds for which a call that may start gives way to others. */
    const courtesyOf = (one: Waiting, now: number): number => {
      let longest = 0
      for (const { first } of calls.tenantOf(one.state)?.all() ?? []) {
        if (first === undefined || first === one) continue
        const wait = waitOf(first, now)
        if (wait > longest && givesWay(strategy, one, first, wait, now, shareOf(first), 0)) longest = wait
      }
      return longest
    }

    const reasonOf = (
      { isBackground, state }: Pick<Waiting, "isBackground" | "state">,
      millis: number,
      now: number,
      ahead?: CountAhead<State>
    ): WaitReason => {
      const ceiling = strategy.ceilingWait(state, now, isBackground ? reserve : 0, ahead)
      if (ceiling > 0 && ceiling >= millis) return "ceiling"
      if (strategy.isPaused(state, now)) return "pause"
      if (strategy.isPaced(state, now)) return "pace"
      return millis === Infinity ? "inFlight" : "limit"
    }

    /** The failure of a call that would `wait` this number of milliseconds; `undefined`: the queue is closed. */
    const refusal = ({ operation }: Call, wait: number | undefined, state: State) =>
      Effect.fail(
        new RateLimited({
          operation,
          message: wait === undefined ? "the rate limiter was closed" : "the rate limiter's wait would exceed maxWait",
          source: "limiter",
          ...(wait !== undefined && { retryAfter: Duration.millis(wait) }),
          ...quotaOf(state, timer.now())
        })
      )

    const refuse = (one: Waiting, wait: number | undefined): void => {
      calls.remove(one)
      one.refuse(refusal(one.call, wait, one.state))
    }

    /**
     * The milliseconds to sleep during a wait for this reason. Jitter keeps the clients of several processes from coming back at once.
     * Nobody else waits for an own ceiling or pace, and to be late each time costs a part of it.
     */
    const sleepFor = (wait: number, reason?: WaitReason): number => {
      const isOwn = reason === "pace" || (reason === "ceiling" && !strategy.sharesCeilings)
      const least = isOwn ? 1 : shortestSleep
      const spread = least === shortestSleep ? jitter * shortestSleep : 0
      return wait === Infinity ? Infinity : Math.min(Math.max(wait, least), longestSleep) + spread
    }

    /** Finds the call of a tenant that may start now; else the milliseconds to sleep until it should look again. */
    const next = (tenant: TenantQueue<State>, now: number): Waiting | number => {
      let best: Waiting | undefined
      let soonest = Infinity
      for (const { first } of tenant.all()) {
        if (first === undefined) continue
        const wait = waitOf(first, now)
        if (wait <= 0 && (best === undefined || startsBefore(strategy, first, best))) {
          if (courtesyOf(first, now) <= 0) best = first
          else soonest = Math.min(soonest, sleepFor(first.since + maxWait - now))
        }
        if (wait > 0) {
          first.reason = reasonOf(first, wait, now)
          warn(strategy.bucketOf(first.state) ?? first.state, first, wait, now)
          soonest = Math.min(soonest, sleepFor(wait, first.reason), sleepFor(first.since + maxWait - now))
        }
      }
      return best ?? soonest
    }

    /** Refuses the calls at the heads of their queues that would wait too long. */
    const refuseLate = (tenant: TenantQueue<State>, now: number): void => {
      for (const list of tenant.all()) {
        for (let { first } = list; first !== undefined; first = list.first) {
          const left = first.since + maxWait - now
          const wait = waitOf(first, now) || courtesyOf(first, now)
          // The jitter may make it a little late. A call that may start now does.
          if (wait <= Math.max(0, left + 2 * shortestSleep) || (wait === Infinity && left > 0)) break
          refuse(first, wait === Infinity ? unknownWait : wait)
        }
      }
    }

    /** Starts all calls of a tenant that may start now, and notes when the next may. */
    const serve = (tenant: TenantQueue<State>, now: number): void => {
      if (maxWait < Infinity) refuseLate(tenant, now)
      let found = next(tenant, now)
      for (; typeof found !== "number"; found = next(tenant, now)) {
        calls.remove(found)
        // A call that only a ceiling or a pace made wait says nothing about the bucket.
        const { reason } = found
        const waited = reason !== undefined && reason !== "ceiling" && reason !== "pace"
        found.start(now, waited)
      }
      if (tenant.lists.size > 0) calls.due.set(tenant, now + found)
    }

    /** The tenants whose calls are to be started: one that ends while others are started adds its own. */
    const due = new Set<string | undefined>()
    let isStarting = false

    /** Starts all calls that may start now, of a tenant where something has changed and of those that are due, and sets the timer. */
    const startDue = (changedTenant?: string): void => {
      due.add(changedTenant)
      if (isStarting) return // a call that is started may run, and end, at once
      isStarting = true
      for (const tenant of due) {
        due.delete(tenant)
        startDueOf(tenant)
      }
      isStarting = false
    }

    const startDueOf = (changedTenant: string | undefined): void => {
      if (calls.size > 0) {
        const now = timer.now()
        const tenant = changedTenant === undefined ? undefined : calls.tenants.get(changedTenant)
        if (tenant !== undefined) serve(tenant, now)
        for (let { first } = calls.due; first !== undefined && first.due <= now + Timer.grain; { first } = calls.due) {
          serve(first, now)
        }
      }
      const { due: at = Infinity } = calls.due.first ?? {}
      if (at === Infinity) {
        timer.clear()
      } else timer.set(at)
      changed()
    }

    const timer = yield* Timer.make(Effect.map(Random.next, (next) => {
      jitter = next
      startDue()
    }))

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        for (const tenant of calls.tenants.values()) {
          for (const list of tenant.all()) for (const one of list) refuse(one, undefined)
        }
      })
    )

    const giveBack = (state: State, grant: Grant): void => {
      strategy.giveBack(grant, timer.now())
      startDue(state.call.tenant)
    }

    /** Waits until a call may be sent. If it is interrupted then, another takes its place. */
    const turnOf = (one: Waiting): Effect.Effect<Grant, RateLimited> => {
      const { restore, timeouts } = one.call
      let started: { readonly grant: Grant } | undefined
      let forget = (): void => {}
      const turn = Effect.async<Grant, RateLimited>((resume) => {
        if (isClosed) return resume(refusal(one.call, undefined, one.state)) // closed since the call came
        one.refuse = resume
        one.start = (now, hasWaited) => {
          forget()
          started = { grant: strategy.start(one.state, now, hasWaited) }
          resume(Effect.succeed(started.grant))
        }
        forget = timeouts?.onClose(() => resume(Effect.interrupt)) ?? forget
        calls.add(one)
        startDue(one.state.call.tenant)
      })
      return Effect.catchAllCause(restore(turn), (cause) => {
        forget()
        if (started !== undefined) giveBack(one.state, started.grant)
        else if (calls.remove(one)) startDue(one.state.call.tenant)
        return Effect.failCause(cause)
      })
    }

    /** Sends a call whose turn it is, and learns from how that ends. */
    const sent = <A extends LimitedResponse, E, R>(
      { notes }: ClientCall,
      state: State,
      grant: Grant,
      send: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E, R> => {
      const settle = (response?: LimitedResponse): void => {
        const reading = response && readRateLimit(response, clock.unsafeCurrentTimeMillis(), maxPause)
        strategy.settle(grant, reading, timer.now())
        startDue(state.call.tenant)
      }
      return learning(send, notes, settle, () => giveBack(state, grant))
    }

    /** Without this, the memory of a program with many tenants would only grow. */
    const forgetIdle = (now: number): void => {
      if (now - forgotAt < idleTime) return
      forgotAt = now
      strategy.forgetIdle(now, (state) => calls.sizeOf(state) > 0)
    }

    const begin = <A extends LimitedResponse, E, R>(
      call: ClientCall,
      send: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | RateLimited, R> => {
      const now = timer.now()
      forgetIdle(now)
      const state = strategy.stateOf(call)
      const isBackground = settingOf(call.fiber, isBackgroundWork)
      if (isClosed) return refusal(call, undefined, state)
      const share = isBackground ? reserve : 0
      const { countAhead, millis } = predict(strategy, calls, { state, isBackground, share, now })
      if (millis <= 0 && calls.tenantOf(state) === undefined) {
        const grant = strategy.start(state, now, false)
        changed()
        return sent(call, state, grant, send)
      }
      if (millis > maxWait && millis < Infinity) return refusal(call, millis, state)
      // Only the calls ahead of it may make it wait for long.
      const reason = reasonOf({ isBackground, state }, millis, now, countAhead)
      warn(strategy.bucketOf(state) ?? state, { call, reason }, millis, now)
      const one = new QueuedCall(call, state, isBackground, count++, now)
      return Effect.flatMap(turnOf(one), (grant) => sent(call, state, grant, send))
    }

    const limit: Limit = (call) => (send) =>
      Effect.uninterruptibleMask((restore) =>
        withFiber((fiber) => {
          const notes = { hasBegun: false }
          const begun = Effect.suspend(() => {
            notes.hasBegun = true
            return send
          })
          return begin({ ...call, fiber, restore, notes }, restore(begun))
        })
      )

    const status = Effect.sync(() => {
      const now = timer.now()
      return Array.from(strategy.states(), (state): Status => {
        const [reason] = calls.listsOf(state).flatMap(({ first }) => first?.reason ?? [])
        return {
          ...state.call,
          waiting: calls.sizeOf(state),
          ...(reason !== undefined && { reason }),
          ...quotaOf(state, now)
        }
      })
    })

    return {
      limit: Object.assign(
        limit,
        {
          ofClient: (call, send) => Effect.suspend(() => begin(call, send))
        } satisfies Pick<Limit, "ofClient">
      ),
      status,
      changes: follow(status),
      waiting: (state) => calls.sizeOf(state),
      queues: (tenant) => calls.tenants.get(tenant)?.all() ?? [],
      wake: startDue
    }
  })

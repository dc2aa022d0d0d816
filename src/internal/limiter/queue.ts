/**
 * A limiter: queues of calls that wait for their turn, first come, first served. The limits of one tenant say nothing about another, so
 * what happens to a call of one concerns no other.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import { type Quota, RateLimited } from "../../Errors.js"
import { settingOf, withFiber } from "../runtime/fiber.js"
import { getOrInsert } from "../runtime/memoize.js"
import { clockOffset } from "../runtime/monotonicClock.js"
import { makeSignal } from "../runtime/streams/queues.js"
import * as Timer from "../runtime/timer.js"
import { readRateLimit } from "./bucketReading.js"
import { maxPauseOf } from "./known/options.js"
import {
  type Call,
  type ClientCall,
  isBackgroundWork,
  type Limit,
  type LimitedResponse,
  type Limiter,
  type Options,
  type Status
} from "./limiter.js"
import { idleTime, type LimitStrategy, none, type Ordered, type Waiter } from "./strategy.js"
import { TenantQueue, WaitingCall } from "./waitingCalls.js"
import * as WaitWarnings from "./waitWarnings.js"

/** The default of `reserve`. */
export const defaultReserve = 0.2

/** A limiter and the calls that wait for it. */
export interface CallQueue<State extends Ordered> extends Limiter {
  /** The calls that wait for a tenant. */
  readonly queueOf: (tenant: string) => TenantQueue<State> | undefined
  /** Looks again for calls of a tenant that may start, after a change that came from no call of this queue. */
  readonly wake: (tenant: string) => void
}

/** Checks that a call failed before it was sent. */
const wasNotSent = (cause: Cause.Cause<unknown>): boolean => {
  const [error] = Cause.failures(cause)
  return Predicate.isReadonlyRecord(error) && (error["outcome"] === "not-sent" || error["_tag"] === "TokenError")
}

/** The calls of one kind. */
interface LimitedState extends Ordered {
  readonly call: Call
  readonly bucket?: object | undefined
}

/** Makes a limiter, and closes it with the scope. */
export const make = <State extends LimitedState, Grant>(
  strategy: LimitStrategy<State, Grant>,
  options: Options
): Effect.Effect<CallQueue<State>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { reserve = defaultReserve } = options
    const maxPause = maxPauseOf(options)
    const maxWait = Duration.toMillis(options.maxWait ?? Infinity)
    const clock = yield* Effect.clock
    const timers = yield* Timer.make
    const warn = yield* WaitWarnings.make
    const { follow, signal: changed } = yield* makeSignal
    const queues = new Map<string, TenantQueue<State>>()
    let count = 0
    let isClosed = false
    let forgotAt = -Infinity

    const quotaOf = (state: State, now: number): Quota => {
      const known = strategy.statusOf(state, now)
      return known === undefined ? {} : {
        limit: known.limit,
        remaining: known.remaining,
        resetAt: Option.getOrUndefined(DateTime.make(Math.round(known.fullAt + clockOffset(clock)))) // may exceed the range of `DateTime`
      }
    }

    /** The failure of a call that would `wait` this number of milliseconds; `undefined`: the queue is closed. */
    const refusal = ({ operation }: Call, wait: number | undefined, state: State) =>
      Effect.fail(
        new RateLimited({
          operation,
          message: wait === undefined ? "the rate limiter was closed" : "the rate limiter's wait would exceed maxWait",
          source: "limiter",
          ...(wait !== undefined && { retryAfter: Duration.millis(wait) }),
          ...quotaOf(state, timers.now())
        })
      )

    /** The tenants to serve: a call that is started may run, and end, at once, and must not start the next from within. */
    const changedTenants = new Set<string>()
    let isServing = false

    /** Starts the calls of a tenant that may start now. */
    const wake = (tenant: string): void => {
      changedTenants.add(tenant)
      if (isServing) return
      isServing = true
      for (const one of changedTenants) {
        changedTenants.delete(one)
        const queue = queues.get(one)
        queue?.serve()
        if (queue?.lists.size === 0) queues.delete(one) // nothing is kept of it: a program may have many tenants
      }
      isServing = false
      changed()
    }

    const queueFor = (tenant: string) =>
      getOrInsert(queues, tenant, () =>
        new TenantQueue<State>(
          strategy,
          maxWait,
          timers.make(() => wake(tenant)),
          ({ call, state }, wait, now) => warn(state.bucket ?? state, call, wait, now)
        ))

    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        isClosed = true
        for (const queue of queues.values()) queue.refuseAll()
        queues.clear()
      })
    )

    const giveBack = ({ call }: State, grant: Grant): void => {
      strategy.giveBack(grant, timers.now())
      wake(call.tenant)
    }

    /** Waits until a call may be sent. If it is interrupted then, another takes its place. */
    const turnOf = (one: WaitingCall<State>): Effect.Effect<Grant, RateLimited> => {
      const { call: { restore, timeouts }, state: { call: { tenant } } } = one
      let started: { readonly grant: Grant } | undefined
      let forget = (): void => {}
      const turn = Effect.async<Grant, RateLimited>((resume) => {
        if (isClosed) return resume(refusal(one.call, undefined, one.state)) // closed since the call came
        one.refuse = (wait) => resume(refusal(one.call, wait, one.state))
        one.start = (now) => {
          forget()
          // A call that something else made wait says nothing about the bucket.
          started = { grant: strategy.start(one.state, now, one.reason === "limit") }
          resume(Effect.succeed(started.grant))
        }
        forget = timeouts?.onClose(() => resume(Effect.interrupt)) ?? forget
        queueFor(tenant).add(one)
        wake(tenant)
      })
      return Effect.catchAllCause(restore(turn), (cause) => {
        forget()
        if (started !== undefined) giveBack(one.state, started.grant)
        else if (queues.get(tenant)?.remove(one) === true) wake(tenant)
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
        strategy.settle(grant, reading, timers.now())
        wake(state.call.tenant)
      }
      return Effect.matchCauseEffect(send, {
        onFailure: (cause) => {
          if (notes.hasBegun && !wasNotSent(cause)) settle()
          else giveBack(state, grant)
          return Effect.failCause(cause)
        },
        onSuccess: (response) => {
          settle(response.redirected === true ? undefined : response)
          return Effect.succeed(response)
        }
      })
    }

    const begin = <A extends LimitedResponse, E, R>(
      call: ClientCall,
      send: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | RateLimited, R> => {
      const now = timers.now()
      // Without this, the memory of a program with many tenants would only grow.
      if (now - forgotAt >= idleTime) {
        forgotAt = now
        strategy.forgetIdle(now, (tenant) => queues.has(tenant))
      }
      const state = strategy.stateOf(call)
      if (isClosed) return refusal(call, undefined, state)
      const isBackground = settingOf(call.fiber, isBackgroundWork)
      const one: Waiter<State> = { state, isBackground, share: isBackground ? reserve : 0, nth: count++, since: now }
      const queue = queues.get(state.call.tenant)
      const wait = strategy.wait(one, now, queue?.aheadOf(one) ?? none)
      if (wait.millis <= 0 && (queue?.lists.size ?? 0) === 0) {
        const grant = strategy.start(state, now, false)
        changed()
        return sent(call, state, grant, send)
      }
      if (wait.millis > maxWait && wait.millis < Infinity) return refusal(call, wait.millis, state)
      // Only the calls ahead of it may make it wait for long.
      warn(state.bucket ?? state, call, wait, now)
      return Effect.flatMap(turnOf(new WaitingCall(call, one)), (grant) => sent(call, state, grant, send))
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
      const now = timers.now()
      return Array.from(strategy.states(), (state): Status => {
        const queue = queues.get(state.call.tenant)
        const [reason] = queue?.lists.get(state)?.flatMap(({ first }) => first?.reason ?? []) ?? []
        return {
          ...state.call,
          waiting: queue?.sizeOf(state) ?? 0,
          ...(reason !== undefined && { reason }),
          ...quotaOf(state, now)
        }
      })
    })

    const ofClient: Limit["ofClient"] = (call, send) => Effect.suspend(() => begin(call, send))
    return {
      limit: Object.assign(limit, { ofClient }),
      status,
      changes: follow(status),
      queueOf: (tenant) => queues.get(tenant),
      wake
    }
  })

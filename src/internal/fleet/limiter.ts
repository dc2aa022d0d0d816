/**
 * The strategy of a rate limiter whose limits many processes share. They share one value for each tenant: a process that wants
 * permits grants them to itself by the rules of a limiter that is alone, and makes that known to the others. `fairShare.ts` says how
 * many, `replica.ts` also how many while the store is unavailable.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as SharedStore from "../../SharedStore.js"
import type { OperationState } from "../limiter/adaptiveState.js"
import { none, type ResolvedLimits } from "../limiter/known/options.js"
import type { CallQueue } from "../limiter/queue.js"
import type { LimitStrategy } from "../limiter/strategy.js"
import { inOwnFiber } from "../runtime/fiber.js"
import { getOrInsert } from "../runtime/memoize.js"
import { clockOffset, monotonicMillis } from "../runtime/monotonicClock.js"
import { makeRunner } from "../runtime/runner.js"
import * as Timer from "../runtime/timer.js"
import type { FleetGrant, Host } from "./replica.js"
import { currentFormat } from "./snapshotFormat.js"
import { TenantSync } from "./sync.js"

/** Makes the strategy. `format` is for tests: processes of another version store another format. */
export const make = (
  store: SharedStore.SharedStore["Type"],
  reserve: number,
  limits: ResolvedLimits = none,
  format = currentFormat()
) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const { fork } = yield* makeRunner()
    const timers = yield* Timer.make
    const clock = yield* Effect.clock
    let offset = clockOffset(clock)
    const host: Host = {
      id: yield* makeId,
      store,
      format,
      reserve,
      limits,
      queue: undefined,
      isClosed: false,
      hasStoreTime: false,
      storeTime: () => Math.floor(monotonicMillis(clock) + offset),
      setStoreTime: (now, millis) => {
        // A late response reached a process that was frozen meanwhile: its own clock went on.
        const latest = Math.max(now, now + millis - Duration.toMillis(store.timeout))
        offset = Math.max(now, Math.min(host.storeTime(), latest)) - monotonicMillis(clock)
        host.hasStoreTime = true
      },
      fork: (effect) => void fork(effect, scope)
    }

    const tenants = new Map<string, TenantSync>()
    const syncOf = (tenant: string) => getOrInsert(tenants, tenant, () => new TenantSync(host, tenant, timers))
    const ofState = ({ call: { tenant } }: OperationState): TenantSync => syncOf(tenant)

    const strategy: LimitStrategy<OperationState, FleetGrant> = {
      stateOf: (call) => syncOf(call.tenant).replica.strategy.stateOf(call),
      states: () => Array.from(tenants.values()).flatMap(({ replica }) => Array.from(replica.strategy.states())),
      statusOf: (state, now) => {
        const { replica } = ofState(state)
        const storeNow = replica.now()
        const known = replica.strategy.statusOf(state, storeNow)
        return known === undefined ? undefined : { ...known, fullAt: known.fullAt - storeNow + now }
      },
      // A granted call has given way already.
      limitsOf: (state) => {
        const { replica } = ofState(state)
        return replica.hasGrant(state) ? [] : replica.strategy.limitsOf(state)
      },
      wait: (one, _, ahead) => ofState(one.state).wait(one, ahead),
      start: (state, _, waited) => ofState(state).replica.start(state, waited),
      giveBack: (grant) => ofState(grant.own.state).end(grant, undefined, false),
      settle: (grant, reading) => ofState(grant.own.state).end(grant, reading, true),
      forgetIdle: (_, isWaiting) => {
        for (const [name, sync] of tenants) if (sync.forgetIdle(isWaiting)) tenants.delete(name)
      }
    }

    return {
      strategy,
      /** Begins to serve the calls of a queue; when the scope is closed, the process leaves the fleet. */
      serve: (queue: CallQueue<OperationState>) =>
        Effect.suspend(() => {
          host.queue = queue
          const leave = Effect.suspend(() => {
            host.isClosed = true
            return Effect.all(Array.from(tenants.values(), ({ leave }) => leave), { concurrency: "unbounded" })
          })
          return Effect.addFinalizer(() => inOwnFiber(leave))
        })
    }
  })

const makeId = Effect.map(
  Effect.all([Random.nextIntBetween(0, 2 ** 48), Random.nextIntBetween(0, 2 ** 48)]),
  (parts) => parts.map((part) => part.toString(36)).join("")
)

/** Runs jobs in this process. */
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as MemoryStore from "./memoryStore.js"
import { activeStates, type RunOptions } from "./model.js"
import { makeRunner } from "./runner.js"
import { makeService } from "./service.js"
import { Tenants } from "./tenants.js"

/** Makes jobs that run in this process until the scope closes. Those that an earlier process has left go on. */
export const make = (keeper: MemoryStore.Keeper, options: RunOptions) =>
  Effect.gen(function*() {
    const store = yield* MemoryStore.make(keeper)
    const tenants = yield* Tenants
    const run = makeRunner({ ...options, store, tenants })
    const running = yield* FiberMap.make<string>()
    const start = ({ id }: { readonly id: string }) =>
      Effect.asVoid(FiberMap.run(running, id, run(id), { onlyIfMissing: true }))
    const left = yield* store.list({ states: activeStates }, { after: undefined, limit: Infinity })
    yield* Effect.forEach(left, start, { discard: true })
    return makeService({ store, tenants, start, pollInterval: options.pollInterval })
  })

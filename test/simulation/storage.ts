/** What outlives a process: the shared store of a fleet, and the journals of redeliveries on a shared disk. Both take time and fail. */
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import { Context, Effect, Exit, Layer, Option } from "effect"
import { type StoreFailure, storeFailure } from "../../src/internal/redelivery/storeFailure.js"
import * as SharedStore from "../../src/SharedStore.js"
import type { Life } from "./machine.js"
import { Draw, type Range } from "./numbers.js"
import { origins } from "./service.js"
import type { World } from "./world.js"

/** The least time of a request to a slow store. */
const slowness = 40

/** The longest time for which a process does not try a key after a failure, in milliseconds. */
const longestPause = 1000

/** What happened to a key in a life: how often the store was asked, and when a request failed that had asked it. */
interface KeyState {
  asked: number
  inProgress: number
  failedAt: number
}

type Keys = Map<string, KeyState>

const stateOf = (keys: Keys, key: string): KeyState => {
  const state = keys.get(key) ?? { asked: 0, inProgress: 0, failedAt: -Infinity }
  keys.set(key, state)
  return state
}

export class Storage {
  private readonly world: World
  private readonly storeLife: Life
  private store: SharedStore.Backend
  /** Counts how often the store has lost all values. A version that it gave before never comes back. */
  private generation = 0
  /** The number of requests of each process, to draw the time of each. */
  private readonly counts = new Map<string, number>()
  readonly journals = new Map<number, Map<string, string>>()

  constructor(world: World) {
    this.world = world
    this.storeLife = world.machine.makeLife("store", -12_345)
    this.store = this.emptyStore()
  }

  private emptyStore(): SharedStore.Backend {
    return Effect.runSync(Effect.withClock(SharedStore.memory, this.storeLife.clock))
  }

  /** Loses all values of the store, as a restart does. */
  lose(): void {
    this.world.note("store loses all values")
    this.generation++
    this.store = this.emptyStore()
  }

  /** Draws the time before and after the effect of a request, and whether it takes effect if its process dies. */
  private latency(kind: string, range: Range) {
    const nth = this.counts.get(kind) ?? 0
    this.counts.set(kind, nth + 1)
    const draw = new Draw(this.world.plan.seed, kind, nth)
    return { before: draw.magnitude(range), after: draw.magnitude(range), survives: draw.chance(0.5) }
  }

  /** The store as a process has it in one of its lives. */
  storeOf(process: number, life: Life): Layer.Layer<SharedStore.SharedStore> {
    const keys: Keys = new Map()
    const store = Layer.orDie(SharedStore.layer(Effect.succeed(this.backendOf(process, life, keys))))
    return Layer.map(
      store,
      (context) =>
        Context.make(SharedStore.SharedStore, this.watched(life, keys, Context.get(context, SharedStore.SharedStore)))
    )
  }

  /** Lets no request fail for a key for which the store has been well: one key, one failure. */
  private watched(life: Life, keys: Keys, store: SharedStore.SharedStore["Type"]): SharedStore.SharedStore["Type"] {
    const watch = <A, E>(key: string, request: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.suspend(() => {
        const own = stateOf(keys, key)
        const askedBefore = own.asked
        own.inProgress++
        const judge = (wasInterrupted: boolean): void => {
          own.inProgress--
          if (wasInterrupted || life.state === "dead") return
          const { time } = this.world
          const mayFail = own.asked > askedBefore || own.inProgress > 0 || time - own.failedAt <= longestPause
          if (own.asked > askedBefore) own.failedAt = time
          if (!mayFail) this.world.violate("one key", `${life.name}: ${key} counts as failing, and was not tried`)
        }
        return Effect.onExit(request, (exit) =>
          Exit.isSuccess(exit)
            ? Effect.sync(() => void own.inProgress--)
            // A fiber that is interrupted cannot enter this region.
            : Effect.map(Effect.exit(Effect.interruptible(Effect.void)), (alive) => judge(Exit.isFailure(alive))))
      })
    return {
      ...store,
      get: (key) => watch(key, store.get(key)),
      swap: (key, version, next) => watch(key, store.swap(key, version, next))
    }
  }

  private backendOf(process: number, life: Life, keys: Keys): SharedStore.Backend<string> {
    const { machine, plan } = this.world
    const request = <A extends SharedStore.Snapshot>(
      key: string,
      run: (strip: (version: string | undefined) => string | undefined) => Effect.Effect<A, unknown>
    ): Effect.Effect<A, string> =>
      Effect.async<A, string>((resume) => {
        stateOf(keys, key).asked++
        const concerned = plan.storeFaults.filter((fault) =>
          fault.kind !== "keys" || key.includes(new URL(origins[fault.tenant]).host)
        )
        const fault = this.world.during(concerned)
        const { after, before } = this.latency(`store${process}`, plan.latency.store)
        const delay = fault?.kind === "slow" ? slowness : 0
        if (fault?.kind === "down" || fault?.kind === "keys") return resume(Effect.fail("down"))
        if (fault?.kind === "hung" || life.state !== "running") return
        machine.after(before + delay, () => {
          const prefix = `${this.generation}:`
          const result = Effect.runSync(Effect.orDie(run((version) =>
            version === undefined ? undefined : version.startsWith(prefix) ? version.slice(prefix.length) : "none"
          )))
          const { entry } = result
          const marked = { ...result, entry: entry && { ...entry, version: `${prefix}${entry.version}` } }
          machine.after(after + delay, () =>
            resume(Effect.succeed(marked)))
        })
      })
    return {
      get: (key) => request(key, () => this.store.get(key)),
      swap: (key, version, next) => {
        if (next !== undefined) this.world.show(next.value)
        return request(key, (strip) => this.store.swap(key, strip(version), next))
      }
    }
  }

  /** A journal as a process sees it in one of its lives. */
  journalOf(journal: number, process: number, life: Life): KeyValueStore.KeyValueStore {
    const entries = this.journals.get(journal) ?? new Map<string, string>()
    this.journals.set(journal, entries)
    const { machine, plan } = this.world
    const windows = plan.diskFaults.filter((fault) => fault.process === process)
    const request = <A>(method: string, run: () => A): Effect.Effect<A, StoreFailure> =>
      Effect.async<A, StoreFailure>((resume) => {
        const { after, before, survives } = this.latency(`disk${process}`, plan.latency.disk)
        const fault = this.world.during(windows)
        if (fault?.kind === "fail") {
          return resume(Effect.fail(storeFailure(method, undefined, "the disk fails")))
        }
        const stall = fault === undefined ? 0 : fault.from + fault.for - this.world.time
        machine.after(before + stall, () => {
          if (life.state === "dead" && !survives) return
          const result = run()
          machine.after(after, () => resume(Effect.succeed(result)))
        })
      })
    return KeyValueStore.makeStringOnly({
      get: (key) => request("get", () => Option.fromNullable(entries.get(key))),
      set: (key, value) => {
        this.world.show(value)
        return request("set", () => {
          this.world.note(`journal ${journal} ${key.slice(-2)} ${value}`)
          entries.set(key, value)
        })
      },
      remove: (key) => request("remove", () => void entries.delete(key)),
      clear: request("clear", () => entries.clear()),
      size: request("size", () => entries.size)
    })
  }
}

/**
 * Runs before each test file and removes the state that an earlier fault left in the thread. A fault in code that runs when a
 * module is loaded needs all modules of the project loaded anew, and so does the fault after it.
 */
import { inject, type ProvidedContext } from "vitest"

/** Values that Stryker provides for a run. */
interface StrykerContext {
  readonly activeMutant?: string
  readonly globalNamespace?: string
  readonly mutantActivation?: "runtime" | "static"
}

// Sound: Stryker provides these values under these names, or none of them.
const fromStryker = <Name extends keyof StrykerContext>(name: Name) =>
  inject(name as keyof ProvidedContext) as StrykerContext[Name]

/** State of vitest, Effect, Stryker and this file that outlives a run. */
const state = globalThis as unknown as { // sound: each is a property that may be absent
  readonly __vitest_worker__: { readonly config: object; readonly moduleCache: Map<string, unknown> }
  readonly "effect/GlobalValue"?: Map<unknown, unknown>
  mutationEvaluatedWith?: string
  mutationTestFile?: object
  mutationWeakMap?: typeof WeakMap
} & Record<string, { activeMutant?: string | undefined }>

// Without a fault, tests get more time: everything is loaded, and coverage is recorded. `vi.setConfig` would change the settings of the
// run in which `vi` was loaded.
if (fromStryker("activeMutant") === undefined) {
  Object.assign(state.__vitest_worker__.config, { testTimeout: 60_000, hookTimeout: 60_000 })
}

const isStatic = fromStryker("mutantActivation") === "static"
const evaluateWith = isStatic ? `fault ${fromStryker("activeMutant")}` : "none"

if ((state.mutationEvaluatedWith ?? "none") !== evaluateWith) {
  const { moduleCache } = state.__vitest_worker__
  for (const id of moduleCache.keys()) {
    if (/\/(src|test|examples)\//.test(id) && !/\/node_modules\/|\/test\/mutation\//.test(id)) moduleCache.delete(id)
  }
  for (const name of state["effect/GlobalValue"]?.keys() ?? []) {
    if (String(name).startsWith("effect-identity-client")) state["effect/GlobalValue"]?.delete(name)
  }
}
state.mutationEvaluatedWith = evaluateWith

// Test files are evaluated before Stryker activates the next fault, so the last one is switched off here.
const namespace = fromStryker("globalNamespace")
if (!isStatic && namespace !== undefined) state[namespace]!.activeMutant = undefined

/** A map that is empty again in each test file, and so with each fault: Stryker sees in each file what its tests cover. */
class WeakMapPerTestFile<Key extends object, Value> extends WeakMap<Key, Value> {
  private testFile = state.mutationTestFile
  private current = new WeakMap<Key, Value>()

  override get(key: Key): Value | undefined {
    return this.testFile === state.mutationTestFile ? this.current.get(key) : undefined
  }

  override set(key: Key, value: Value): this {
    if (this.testFile !== state.mutationTestFile) this.current = new WeakMap()
    this.testFile = state.mutationTestFile
    this.current.set(key, value)
    return this
  }
}
state.mutationTestFile = {}
state.mutationWeakMap ??= WeakMapPerTestFile // only `get` and `set` are used

/**
 * Runs before each test file. A fault that takes effect when a module is evaluated needs all of the project's modules to be
 * evaluated anew, and so does whatever comes after it.
 */
import { MutableHashMap, Predicate } from "effect"
import { inject, type ProvidedContext } from "vitest"

/** What Stryker tells of a run. */
interface Told {
  readonly activeMutant?: string
  readonly globalNamespace?: string
  readonly mode?: "dry-run" | "mutant"
  readonly mutantActivation?: "runtime" | "static"
}
// Sound: where Stryker does not run the tests, nothing is told.
const told = <Name extends keyof Told>(name: Name) => inject(name as keyof ProvidedContext) as Told[Name]

/** What vitest, Effect, Stryker and this file keep between two runs in a thread. */
const kept = globalThis as unknown as { // sound: it is only looked at
  readonly __vitest_worker__: { readonly moduleCache: Map<string, unknown> }
  readonly "effect/GlobalValue"?: Map<unknown, unknown>
  mutationEvaluatedWith?: string
  mutationFault?: string | undefined
  mutationForgetfulMap?: typeof WeakMap
} & Record<string, { activeMutant?: string | undefined }>

const isStatic = told("mutantActivation") === "static"
const evaluateWith = isStatic ? `fault ${told("activeMutant")}` : "none"

if ((kept.mutationEvaluatedWith ?? "none") !== evaluateWith) {
  const { moduleCache } = kept.__vitest_worker__
  for (const id of moduleCache.keys()) {
    if (/\/(src|test|examples)\//.test(id) && !/\/node_modules\/|\/test\/mutation\//.test(id)) moduleCache.delete(id)
  }
  for (const name of kept["effect/GlobalValue"]?.keys() ?? []) {
    if (String(name).startsWith("effect-identity-client")) kept["effect/GlobalValue"]?.delete(name)
  }
}
kept.mutationEvaluatedWith = evaluateWith

// Nothing that was counted in an earlier run is counted in this one.
const registry: unknown = kept["effect/GlobalValue"]?.get(Symbol.for("effect/Metric/globalMetricRegistry"))
if (Predicate.isObject(registry)) Object.assign(registry, { map: MutableHashMap.empty() })

// Test files are evaluated before Stryker names the next fault: not with the last one.
const namespace = told("globalNamespace")
if (!isStatic && namespace !== undefined) kept[namespace]!.activeMutant = undefined

/** Knows nothing of what was set before another fault. */
class ForgetfulMap<Key extends object, Value> extends WeakMap<Key, Value> {
  private setWith = kept.mutationFault
  private current = new WeakMap<Key, Value>()

  override get(key: Key): Value | undefined {
    return this.setWith === kept.mutationFault ? this.current.get(key) : undefined
  }

  override set(key: Key, value: Value): this {
    if (this.setWith !== kept.mutationFault) this.current = new WeakMap()
    this.setWith = kept.mutationFault
    this.current.set(key, value)
    return this
  }
}
kept.mutationFault = told("activeMutant")
kept.mutationForgetfulMap ??= ForgetfulMap // of a `WeakMap` no more is used

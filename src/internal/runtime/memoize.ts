/** Makes values on demand and keeps them. */
import type { Any } from "../../Endpoint.js"

/** Gives the value of a key in a `Map` or a `WeakMap`. If there is none, makes one and adds it. */
export const getOrInsert = <Key, Value extends object>(
  map: { readonly get: (key: Key) => Value | undefined; readonly set: (key: Key, value: Value) => unknown },
  key: Key,
  make: (key: Key) => Value
): Value => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make(key)
  map.set(key, made)
  return made
}

/** Memoizes a function of an operation's declaration. A result is kept for as long as its endpoint is. */
export const memoizeByEndpoint = <A extends object, Each extends Any = Any>(
  make: (endpoint: Each) => A
): (endpoint: Each) => A => {
  const results = new WeakMap<Each, A>()
  return (endpoint) => getOrInsert(results, endpoint, make)
}

const globals: Record<symbol, unknown> = globalThis as never // sound: only keys of this module are read and written

/** Makes a value once in a process, however many copies of this package are loaded. */
export const globalValue = <A>(name: string, make: () => A): A => (globals[Symbol.for(name)] ??= make()) as A // sound: each name is used for one type

/** Derives data from an operation's declaration once, however often it is called. */
import type { Any } from "../../Endpoint.js"

/** Memoizes a function. A result is kept for as long as its endpoint is. */
export const memoizeByEndpoint = <A extends object, Each extends Any = Any>(
  make: (endpoint: Each) => A
): (endpoint: Each) => A => {
  const results = new WeakMap<object, A>()
  return (endpoint) => {
    const known = results.get(endpoint)
    if (known !== undefined) return known
    const made = make(endpoint)
    results.set(endpoint, made)
    return made
  }
}

/** What is worked out once for an operation, however often it is called. */
import type { Any } from "../../Endpoint.js"

/** The function, its results kept for as long as the operation is. */
export const memoizeByEndpoint = <A extends object, Each extends Any = Any>(
  make: (endpoint: Each) => A
): (endpoint: Each) => A => {
  const known = new WeakMap<object, A>()
  return (endpoint) => {
    const before = known.get(endpoint)
    if (before !== undefined) return before
    const made = make(endpoint)
    known.set(endpoint, made)
    return made
  }
}

/** Derives data from an operation's declaration once, however often it is called. */
import type { Any } from "../../Endpoint.js"
import { getOrInsert } from "./getOrInsert.js"

/** Memoizes a function. A result is kept for as long as its endpoint is. */
export const memoizeByEndpoint = <A extends object, Each extends Any = Any>(
  make: (endpoint: Each) => A
): (endpoint: Each) => A => {
  const results = new WeakMap<Each, A>()
  return (endpoint) => getOrInsert(results, endpoint, make)
}

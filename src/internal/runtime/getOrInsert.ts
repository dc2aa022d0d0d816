/** Fills maps on demand. */

/** A `Map` or a `WeakMap`. */
interface MapOf<Key, Value> {
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => unknown
}

/** Gives the value of a key. If there is none, makes one and adds it. */
export const getOrInsert = <Key, Value extends object>(
  map: MapOf<Key, Value>,
  key: Key,
  make: (key: Key) => Value
): Value => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make(key)
  map.set(key, made)
  return made
}

/** Fills maps on demand. */

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

/** Changes parts of parsed JSON without changing the value itself. */
import { isObject } from "../read/json.js"

/** The keys that lead to a part. */
export type Location = ReadonlyArray<string | number>

/** The value with another one in place of the part at a location. */
export const edit = (value: unknown, [key, ...rest]: Location, change: (part: unknown) => unknown): unknown => {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) return value.map((each, index) => index === key ? edit(each, rest, change) : each)
  return isObject(value) ? { ...value, [key]: edit(value[key], rest, change) } : value
}

/** The value without the part at a location. */
export const without = (value: unknown, location: Location): unknown => {
  const key = location.at(-1)
  return edit(value, location.slice(0, -1), (parent) =>
    Array.isArray(parent)
      ? parent.filter((_, index) => index !== key)
      : isObject(parent)
      ? Object.fromEntries(Object.entries(parent).filter(([name]) => name !== key))
      : parent)
}

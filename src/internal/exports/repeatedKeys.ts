/** Finds objects in which a key comes twice: JSON.parse keeps the last value, and so loses the first without a word. */
import { endOfString } from "../runtime/parseJson.js"

const colon = 0x3a

/** Counts the fields of all objects in a value. */
const fieldsOf = (value: unknown): number => {
  const values = [value] // it grows while it is visited
  let count = 0
  for (const each of values) {
    const inner = Object.values(Object(each))
    if (!Array.isArray(each)) count += inner.length
    for (const one of inner) if (typeof one === "object" && one !== null) values.push(one)
  }
  return count
}

/** Counts the strings of a JSON text that a colon follows at once, and perhaps strings that contain that. */
const mostKeysIn = (text: string): number => {
  let count = 0
  for (let at = text.indexOf("\":"); at >= 0; at = text.indexOf("\":", at + 2)) count++
  return count
}

/** Counts the keys of a JSON text. */
const keysIn = (text: string): number => {
  let count = 0
  for (let quote = text.indexOf("\""); quote >= 0;) {
    let next = endOfString(text, quote)
    while (text.charCodeAt(next) <= 0x20) next++
    if (text.charCodeAt(next) === colon) count++
    quote = text.indexOf("\"", next)
  }
  return count
}

/** Tells that an object in a text of valid JSON has a key twice. `value` is what the text was parsed to. */
export const hasRepeatedKey = (text: string, value: object): boolean => {
  const fields = fieldsOf(value)
  // The exact count takes as long as parsing, and is hardly ever needed.
  return (mostKeysIn(text) !== fields || /"[\t\r ]+:/.test(text)) && keysIn(text) > fields
}

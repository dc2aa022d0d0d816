/** Reads and prints JSON. */

export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [name: string]: Json }

/** Parses a text; `undefined` if it is not JSON. */
export const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Prints a text of JSON with indentation, and any other as it is. */
export const pretty = (text: string): string => {
  const value = parseJson(text)
  return value === undefined ? text : JSON.stringify(value, null, 2)
}

/** The start of a text that is too long to show. */
export const shortened = (text: string, length = 50_000): string =>
  text.length <= length
    ? text
    : `${text.slice(0, length)}\n… ${(text.length - length).toLocaleString()} more characters`

/** Makes text from a server printable: without secrets and strings of the call's input, without control characters, and short. */
import * as Either from "effect/Either"
import { printable } from "../schema/issues.js"

const maxLength = 500

/** A part of a secret is hidden if it has this many characters. */
export const partLength = 8

const jwt = /(?<![\w-])ey[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?/g

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " " }

/** Decodes the escapes of JSON, URLs and HTML, once. */
const unescape = (text: string): string =>
  text.replace(/\\u[\da-f]{4}|\\["\\/bfnrt]|(?:%[\da-f]{2})+|&#x?[\da-f]+;|&\w+;/gi, (escape) => {
    const decode = (): string => {
      if (escape.startsWith("%")) return decodeURIComponent(escape)
      if (escape.startsWith("\\")) return String(JSON.parse(`"${escape}"`))
      const name = escape.slice(1, -1)
      return name.startsWith("#") ? String.fromCodePoint(Number(`0${name.slice(1)}`)) : entities[name] ?? escape
    }
    return Either.getOrElse(Either.try(decode), () => escape)
  }).normalize()

/** Removes differences of case, accents and white space, as services do, without a change of the length. */
const fold = (text: string): string =>
  text.replace(/[a-z]+|[^!-~]|\+/gu, (found) => {
    const plain = found.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[\p{Cc}\p{Z}+]/gu, " ").toUpperCase()
    return plain.length === found.length ? plain.replace(/\p{Cs}/u, "\uFFFD") : found
  })

/** Replaces secrets, parts of them of this length, and JSON Web Tokens by `…`. */
const hide = (text: string, secrets: ReadonlyArray<string>, partLength: number): string => {
  const view = fold(text)
  const hidden = view.split("").map(() => false)
  for (const { 0: token, index } of text.matchAll(jwt)) hidden.fill(true, index, index + token.length)
  for (const secret of secrets) {
    const length = Math.min(secret.length, partLength)
    const partsOf = (text: string) =>
      Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => text.slice(at, at + length))
    const parts = partsOf(view)
    const known = new Set(parts)
    const found = new Set(partsOf(secret).filter((part) => known.has(part)))
    parts.forEach((part, at) => found.has(part) && hidden.fill(true, at, at + length))
  }
  return text.replace(/[^]/g, (unit, at: number) => !hidden[at] ? unit : hidden[at - 1] ? "" : "…")
}

/**
 * Replaces JSON Web Tokens, secrets and their parts of `least` characters by `…`, whatever their case and accents. A text that
 * repeats them escaped, even twice, is printed without its escapes. Replaces control characters by spaces, and cuts the text
 * at 500 characters.
 */
export const redact = (text: string, secrets: ReadonlyArray<string>, least = partLength): string => {
  const folded = secrets.map((secret) => fold(secret.normalize())).filter((secret) => secret.trim() !== "")
  // Longer than what is printed, so that a secret at the cut is still recognized.
  const searched = text.slice(0, 4 * maxLength).normalize()
  let shown = searched
  let view = searched
  for (let escaped = 0; escaped <= 2; escaped++) {
    // Before the text is decoded, only whole secrets are hidden: a remaining part would no longer be recognized.
    const clean = hide(view, folded, Infinity)
    const cleaner = hide(clean, folded, least)
    if (cleaner !== view) shown = cleaner
    view = unescape(clean)
  }
  const clean = printable(shown)
  return clean.length <= maxLength && text.length <= 4 * maxLength
    ? clean
    : clean.slice(0, maxLength - 1).replace(/(?:…|\p{Cs})?$/u, "…")
}

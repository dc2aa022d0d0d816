/**
 * Makes text from a server printable: without secrets and strings of the call's input, without control characters, and short. Errors and
 * logs contain no URLs and no headers; `telemetry/spans.ts` names the URL's template. What the embedded tenant shows of both, its
 * `control/recording/masking.ts` hides.
 */
import * as Either from "effect/Either"
import { printable } from "../schema/issues.js"

const maxLength = 500

/** A part of a secret is hidden if it has this many characters. */
export const partLength = 8

const jwt = /(?<![\w-])ey[\w-]{4,}\.[\w-]+(?:\.[\w-]*)?/g

/** HTML's names of the characters from 160 to 191 and from 224 to 255. */
const latin1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para " +
  "middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest agrave aacute acirc atilde auml aring aelig ccedil egrave eacute " +
  "ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml " +
  "yacute thorn yuml"

/** The characters of ASCII and Latin-1 that have names in HTML, without capital letters. */
const entities: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", szlig: "ß", times: "×" }),
  ...latin1.split(" ").map((name, nth) => [name, String.fromCharCode(nth < 32 ? 160 + nth : 192 + nth)] as const)
])

const escapes = new RegExp(
  [
    /\\u[\da-f]{4}|\\["\\/bfnrt]/,
    /%(?:[cd][\da-f]|e[\da-f]%[89ab][\da-f]|f[0-7]%[89ab][\da-f]%[89ab][\da-f])%[89ab][\da-f]/, // a character of UTF-8
    /%[\da-f]{2}/,
    /&#x[\da-f]+;?|&#\d+;?|&\w+;/
  ].map(({ source }) => source).join("|"),
  "gi"
)

/** Decodes the escapes of JSON, URLs and HTML, once. */
const unescape = (text: string): string =>
  text.replace(escapes, (escape) => {
    const decode = (): string => {
      if (escape.startsWith("%")) return decodeURIComponent(escape)
      if (escape.startsWith("\\")) return String(JSON.parse(`"${escape}"`))
      if (escape.startsWith("&#")) return String.fromCodePoint(Number(`0${escape.slice(2).replace(";", "")}`))
      const char = entities.get(escape.slice(1, -1).toLowerCase()) ?? escape
      return /^&[A-Z]/.test(escape) && char !== escape ? char.toUpperCase() : char
    }
    // Bytes that are not UTF-8 are Latin-1.
    const fromLatin1 = () => escape.replace(/%(..)/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)))
    return Either.getOrElse(Either.try(decode), fromLatin1)
  }).normalize()

/** Removes differences of case, accents and white space, as services do. */
const fold = (text: string): string =>
  /^[!-*,-~]*$/.test(text)
    ? text.toUpperCase()
    : text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[\p{Cc}\p{Z}+]/gu, " ").replace(/\p{Cs}/gu, "\uFFFD")
      .toUpperCase()

/** Folds a text. `at[n]` is the index in the text of the character that the unit `n` of `view` comes from. */
const foldWithIndexes = (text: string): { readonly view: string; readonly at: ReadonlyArray<number> } => {
  let view = ""
  const at: Array<number> = []
  for (const { 0: found, index } of text.matchAll(/[^]/gu)) {
    view += fold(found)
    while (at.length < view.length) at.push(index)
  }
  return { view, at }
}

/** Finds the places of parts of secrets in a text, in a time that does not depend on the number of secrets. */
const makeFinder = (view: string): (secret: string, from: number) => ReadonlyArray<number> => {
  const places = new Map<number, ReadonlyMap<string, ReadonlyArray<number>>>()
  const placesOf = (length: number): ReadonlyMap<string, ReadonlyArray<number>> => {
    const found = new Map<string, Array<number>>()
    for (let at = 0; at + length <= view.length; at++) {
      const part = view.slice(at, at + length)
      const known = found.get(part)
      if (known === undefined) found.set(part, [at])
      else known.push(at)
    }
    places.set(length, found)
    return found
  }
  return (secret, from) => {
    const length = Math.min(secret.length - from, partLength)
    return (places.get(length) ?? placesOf(length)).get(secret.slice(from, from + length)) ?? []
  }
}

const isLetter = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character)

/** Whether a short text is a word of its own: within another word it is there by coincidence. */
const isApart = (view: string, at: number, { length }: string): boolean =>
  length > 3 || !(isLetter(view[at - 1]) || isLetter(view[at + length]))

/** Replaces whole secrets or, with `parts`, also parts of them, and JSON Web Tokens by `…`. */
const hide = (text: string, secrets: ReadonlyArray<string>, parts: boolean): string => {
  const { at, view } = foldWithIndexes(text)
  const hidden = text.split("").map(() => false)
  for (const { 0: token, index } of text.matchAll(jwt)) hidden.fill(true, index, index + token.length)
  const find = makeFinder(view)
  for (const secret of secrets) {
    const isWhole = !parts || secret.length <= partLength
    const length = isWhole ? secret.length : partLength
    for (let from = 0; from + length <= secret.length; from++) {
      for (const place of find(secret, from)) {
        const isFound = !isWhole || (view.startsWith(secret, place) && isApart(view, place, secret))
        if (isFound) hidden.fill(true, at[place], at[place + length])
      }
    }
  }
  return text.replace(/[^]/g, (unit, nth: number) => !hidden[nth] ? unit : hidden[nth - 1] ? "" : "…")
}

/** The most characters of secrets that are looked for: that takes up to 10 ms (`npm run bench:blocking`). With more, the whole text is hidden. */
const maxSecrets = 32_768

/**
 * Replaces JSON Web Tokens, secrets and, with `parts`, their parts of 8 characters by `…`, whatever their case and accents. Secrets of up
 * to three characters are hidden where they are words of their own. A text that repeats secrets escaped, even twice, is printed
 * without its escapes. Replaces control characters by spaces, and cuts the text at 500 characters. If the secrets have more
 * than 32,768 characters, all of the text is hidden.
 */
export const redact = (text: string, secrets: ReadonlyArray<string>, parts = true): string => {
  const all = new Set(secrets)
  let length = 0
  for (const secret of all) length += secret.length
  if (length > maxSecrets) return "…"
  const folded = Array.from(all, fold).filter((secret) => secret.trim() !== "")
  // Longer than what is printed, so that a secret at the cut is still recognized.
  const searched = text.slice(0, 4 * maxLength).normalize()
  let shown = searched
  let view = searched
  for (let escaped = 0; escaped <= 2; escaped++) {
    // Before the text is decoded, only whole secrets are hidden: a remaining part would no longer be recognized.
    const clean = hide(view, folded, false)
    const cleaner = hide(clean, folded, parts)
    if (cleaner !== view) shown = cleaner
    view = unescape(clean)
  }
  const clean = printable(shown)
  return clean.length <= maxLength && text.length <= 4 * maxLength
    ? clean
    : clean.slice(0, maxLength - 1).replace(/(?:…|\p{Cs})?$/u, "…")
}

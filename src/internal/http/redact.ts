/**
 * Makes text from a server printable: without secrets and strings of the call's input, without control characters, and short. Errors and
 * logs contain no URLs and no headers; `telemetry/spans.ts` names the URL's template. What the embedded tenant shows of both, its
 * `control/recording/masking.ts` hides.
 */
import * as Either from "effect/Either"
import { getOrInsert } from "../runtime/memoize.js"
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

const isPlain = (text: string): boolean => /^[ -*,-~]*$/.test(text)

/** Removes differences of case, accents and white space, as services do. */
const fold = (text: string): string =>
  isPlain(text)
    ? text.toUpperCase()
    : text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[\p{Cc}\p{Z}+]/gu, " ").replace(/\p{Cs}/gu, "\uFFFD")
      .toUpperCase()

/** Folds a text. `at[n]` is the index in the text of the character that the unit `n` of `view` comes from. */
const foldWithIndexes = (text: string): { readonly view: string; readonly at: ReadonlyArray<number> } => {
  if (isPlain(text)) return { view: fold(text), at: Array.from({ length: text.length }, (_, nth) => nth) }
  let view = ""
  const at: Array<number> = []
  for (const { 0: found, index } of text.matchAll(/[^]/gu)) {
    view += fold(found)
    while (at.length < view.length) at.push(index)
  }
  return { view, at }
}

const isLetter = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character)

/** Whether a short text is a word of its own: within another word it is there by coincidence. */
const isApart = (view: string, at: number, { length }: string): boolean =>
  length > 3 || !(isLetter(view[at - 1]) || isLetter(view[at + length]))

/** Finds the length of the word at an index of a text; 0 if none is there. */
type Find = (view: string, at: number) => number

/** Makes a finder, whose time hardly depends on the number of words. */
const makeFinder = (words: ReadonlyArray<string>): Find => {
  const short = new Set<string>()
  const long = new Map<string, Array<string>>()
  for (const word of words) {
    if (word.length <= partLength) short.add(word)
    else getOrInsert(long, word.slice(0, partLength), () => []).push(word)
  }
  const lengths = Array.from(new Set(Array.from(short, ({ length }) => length))).sort((one, other) => other - one)
  return (view, at) => {
    let longest = 0
    for (const word of long.get(view.slice(at, at + partLength)) ?? []) {
      if (word.length > longest && view.startsWith(word, at)) longest = word.length
    }
    if (longest > 0) return longest
    const found = lengths.map((length) => view.slice(at, at + length)).find((word) =>
      short.has(word) && isApart(view, at, word)
    )
    return found?.length ?? 0
  }
}

/** A hash of the part at an index, up to 65,535. */
const hashAt = (text: string, at: number): number => {
  let hash = 0
  for (let nth = at; nth < at + partLength; nth++) hash = Math.imul(hash, 31) + text.charCodeAt(nth)
  return (hash ^ hash >>> 16) & 0xffff
}

/** Makes a finder of short words and of the parts of long ones, which a set of texts would take several times as long to hold. */
const makePartFinder = (words: ReadonlyArray<string>): Find => {
  const short = makeFinder(words.filter(({ length }) => length <= partLength))
  const long = words.filter(({ length }) => length > partLength).join("\n") // a folded text has no newline
  /** The last place of a hash, and for each place the one before that has its hash; 0 if there is none, else one more. */
  const last = new Int32Array(0x10000)
  const before = new Int32Array(long.length)
  for (let at = 0; at + partLength <= long.length; at++) {
    const hash = hashAt(long, at)
    before[at] = last[hash] ?? 0
    last[hash] = at + 1
  }
  return (view, at) => {
    if (at + partLength <= view.length) {
      const part = view.slice(at, at + partLength)
      for (let place = last[hashAt(view, at)] ?? 0; place > 0; place = before[place - 1] ?? 0) {
        if (long.startsWith(part, place - 1)) return partLength
      }
    }
    return short(view, at)
  }
}

/** Replaces JSON Web Tokens and what is found by `…`. */
const hide = (text: string, find: Find): string => {
  const { at, view } = foldWithIndexes(text)
  const hidden = Array.from({ length: text.length }, () => false)
  for (const { 0: token, index } of text.matchAll(jwt)) hidden.fill(true, index, index + token.length)
  for (let place = 0, end = 0; place < view.length; place++) {
    end = Math.max(end, place + find(view, place))
    if (place < end) hidden.fill(true, at[place], at[place + 1])
  }
  return text.replace(/[^]/g, (unit, nth: number) => !hidden[nth] ? unit : hidden[nth - 1] ? "" : "…")
}

/** The most characters of secrets that are looked for, in milliseconds (`npm run bench:blocking`). With more, the whole text is hidden. */
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
  const whole = makeFinder(folded)
  const part = parts ? makePartFinder(folded) : whole
  // Longer than what is printed, so that a secret at the cut is still recognized.
  const searched = text.slice(0, 4 * maxLength).normalize()
  let shown = searched
  let view = searched
  for (let escaped = 0; escaped <= 2; escaped++) {
    // Before the text is decoded, only whole secrets are hidden: a remaining part would no longer be recognized.
    const clean = hide(view, whole)
    const cleaner = hide(clean, part)
    if (cleaner !== view) shown = cleaner
    view = unescape(clean)
  }
  const clean = printable(shown)
  return clean.length <= maxLength && text.length <= 4 * maxLength
    ? clean
    : clean.slice(0, maxLength - 1).replace(/(?:…|\p{Cs})?$/u, "…")
}

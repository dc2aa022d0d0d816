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

const isPlain = (text: string): boolean => /^[\n -*,-~]*$/.test(text)

/** Removes differences of case, accents and white space, as services do, but keeps newlines. */
const fold = (text: string): string =>
  isPlain(text)
    ? text.toUpperCase()
    : text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/(?!\n)[\p{Cc}\p{Z}+]/gu, " ").replace(/\p{Cs}/gu, "\uFFFD")
      .toUpperCase()

/** Folds texts, all at once, because that is faster. Folding may make a text 18 times as long: those beyond about `max` characters are left out. */
const foldAll = (texts: ReadonlyArray<string>, max = Infinity): ReadonlyArray<string> => {
  const pieces = texts.map((text) => text.replaceAll("\n", " ")).join("\n").match(/[^]{1,128}/gu) ?? []
  let folded = ""
  let length = 0
  for (const piece of pieces) {
    const added = fold(piece)
    folded += added
    length += added.replaceAll("\n", "").length
    if (length > max) return folded.split("\n").slice(0, -1)
  }
  return folded.split("\n")
}

/** Folds a text. `at[n]` is the index in the text of the character that the unit `n` of `view` comes from. */
const foldWithIndexes = (text: string): { readonly view: string; readonly at: ReadonlyArray<number> } => {
  const characters = Array.from(text)
  const folded = foldAll(characters)
  const at: Array<number> = []
  let index = 0
  characters.forEach((character, nth) => {
    for (let unit = folded[nth]?.length ?? 0; unit > 0; unit--) at.push(index)
    index += character.length
  })
  return { view: folded.join(""), at }
}

const isLetter = (character: string | undefined): boolean => character !== undefined && /[\p{L}\p{N}]/u.test(character)

/** The substrings of a text that end at the same places: the longest, and all of its ends that are longer than those of `shorter`. */
interface Substrings {
  readonly length: number
  /** Those with one more character. */
  readonly next: Map<number, Substrings>
  /** Those that also end at other places. */
  shorter: Substrings | undefined
  /** The length of the longest secret that ends at these places. */
  secret: number
  /** Whether a part of a secret ends at these places. */
  isPart: boolean
  /** Whether the marks of `shorter` are in `secret` and `isPart`. */
  isSettled: boolean
}

/** Makes the suffix automaton of a text: the substrings that end after each of its characters; the first is the empty one. */
const substringsOf = (text: string): readonly [Substrings, ...ReadonlyArray<Substrings>] => {
  const make = (length: number, next = new Map<number, Substrings>(), shorter?: Substrings): Substrings => ({
    length,
    next,
    shorter,
    secret: 0,
    isPart: false,
    isSettled: false
  })
  const all: [Substrings, ...Array<Substrings>] = [make(0)]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const added = make(at + 1)
    all.push(added)
    let before = all[at]
    for (; before !== undefined && !before.next.has(code); before = before.shorter) before.next.set(code, added)
    const known = before?.next.get(code)
    added.shorter = known ?? all[0]
    if (before === undefined || known === undefined || known.length === before.length + 1) continue
    const copy = make(before.length + 1, new Map(known.next), known.shorter)
    for (; before?.next.get(code) === known; before = before.shorter) before.next.set(code, copy)
    added.shorter = known.shorter = copy
  }
  return all
}

/** Marks the places where a secret or a part of it ends. Takes a step for each of its characters, whatever the text is. */
const mark = (empty: Substrings, secret: string): void => {
  let [found, length] = [empty, 0]
  for (let at = 0; at < secret.length; at++) {
    const code = secret.charCodeAt(at)
    let next = found.next.get(code)
    while (next === undefined && found.shorter !== undefined) {
      found = found.shorter
      length = found.length
      next = found.next.get(code)
    }
    if (next === undefined) continue
    found = next
    if (++length < partLength) continue
    let part: Substrings | undefined = found
    for (; part !== undefined && part.length >= partLength && !part.isPart; part = part.shorter) part.isPart = true
  }
  if (length === secret.length) found.secret = Math.max(found.secret, length)
}

/** Passes the marks on: what ends at some places also ends at fewer of them. */
const settle = (substrings: Substrings): void => {
  const { shorter } = substrings
  if (shorter === undefined || substrings.isSettled) return
  settle(shorter)
  substrings.secret = Math.max(substrings.secret, shorter.secret)
  substrings.isPart ||= shorter.isPart
  substrings.isSettled = true
}

/** Longer words are secrets even within another word. */
const maxApart = 3

/** Replaces JSON Web Tokens and secrets by `…`, and in the second text also parts of secrets. */
const hide = (
  text: string,
  short: ReadonlySet<string>,
  long: ReadonlyArray<string>
): readonly [clean: string, cleaner: string] => {
  const { at, view } = foldWithIndexes(text)
  const ends = substringsOf(view)
  for (const secret of long) mark(ends[0], secret)
  ends.forEach(settle)

  const replaced = (lengthOf: (end: Substrings) => number): string => {
    const found = Array.from({ length: view.length }, () => false)
    for (let end = view.length, begin = end; end > 0; end--) {
      const substrings = ends[end] ?? ends[0]
      begin = Math.min(begin, end - lengthOf(substrings))
      found[end - 1] = begin < end
    }
    /** Whether a short word is a word of its own: within another word it is there by coincidence. */
    const isApart = (begin: number, end: number): boolean =>
      !(isLetter(view[begin - 1]) && !found[begin - 1]) && !(isLetter(view[end]) && !found[end])
    const shortAt = (begin: number): void => {
      for (let end = begin + 1; end <= begin + maxApart; end++) {
        if (short.has(view.slice(begin, end)) && isApart(begin, end)) found.fill(true, begin, end)
      }
    }
    // In both directions: one that is hidden sets those apart that are beside it.
    for (let nth = 0; nth < view.length; nth++) shortAt(nth)
    for (let nth = view.length; nth-- > 0;) shortAt(nth)
    const hidden = Array.from({ length: text.length }, () => false)
    for (const { 0: token, index } of text.matchAll(jwt)) hidden.fill(true, index, index + token.length)
    found.forEach((isFound, nth) => isFound && hidden.fill(true, at[nth], at[nth + 1]))
    return text.replace(/[^]/g, (unit, nth: number) => !hidden[nth] ? unit : hidden[nth - 1] ? "" : "…")
  }
  return [
    replaced(({ secret }) => secret),
    replaced(({ isPart, secret }) => isPart ? Math.max(secret, partLength) : secret)
  ]
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
  const all = Array.from(new Set(secrets))
  const folded = all.reduce((sum, { length }) => sum + length, 0) > maxSecrets ? [] : foldAll(all, maxSecrets)
  if (folded.length < all.length) return "…"
  const short = new Set(folded.filter((secret) => secret.length <= maxApart && secret.trim() !== ""))
  const long = folded.filter((secret) => secret.length > maxApart && secret.trim() !== "")
  // Longer than what is printed, so that a secret at the cut is still recognized.
  const characters = Array.from(text.slice(0, 4 * maxLength).normalize())
  const searched = characters.slice(0, foldAll(characters, 4 * maxLength).length)
  let shown = searched.join("")
  let view = shown
  for (let escaped = 0; escaped <= 2; escaped++) {
    // Before the text is decoded, only whole secrets are hidden: a remaining part would no longer be recognized.
    const [clean, cleaner] = hide(view, short, long)
    const hidden = parts ? cleaner : clean
    if (hidden !== view) shown = hidden
    const decoded = unescape(clean)
    if (decoded === clean) break
    view = decoded
  }
  const clean = printable(shown)
  return clean.length <= maxLength && text.length <= 4 * maxLength && searched.length === characters.length
    ? clean
    : clean.slice(0, maxLength - 1).replace(/(?:…|\p{Cs})?$/u, "…")
}

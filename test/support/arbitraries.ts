/** Runs properties as effects, and generates strings that break clients. */
import { Effect, FastCheck, Runtime } from "effect"

/** Runs an effect for many values; FastCheck shrinks and reports the first that fails, with its seed. */
export const forAll = <A, E, R>(
  arbitrary: FastCheck.Arbitrary<A>,
  law: (value: A) => Effect.Effect<void, E, R>,
  numRuns = 100
): Effect.Effect<void, never, R> =>
  Effect.flatMap(Effect.runtime<R>(), (runtime) =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(arbitrary, (value) => Runtime.runPromise(runtime)(law(value))),
        { numRuns }
      )
    ))

/** Any UTF-16 code unit, lone surrogates included. */
const unit = FastCheck.oneof(
  FastCheck.integer({ min: 0, max: 0xffff }),
  FastCheck.integer({ min: 0xd7ff, max: 0xe000 })
).map((code) => String.fromCharCode(code))

/** Any character that UTF-8 can encode. */
const character = FastCheck.oneof(
  FastCheck.integer({ min: 0, max: 0x7f }),
  FastCheck.integer({ min: 0x80, max: 0x10ffff }).filter((code) => code < 0xd800 || code > 0xdfff)
).map((code) => String.fromCodePoint(code))

/** Strings with a meaning in paths, URLs, headers or templates, one line per kind. */
const nasty = FastCheck.constantFrom(...[
  ["", ".", "..", "...", "%2e%2e", "%2E", "%252e", "../x", "..\\.."],
  ["a/b", "/", "//", "\\", "?", "?a=b", "#", "#a", "%", "%00", "%2f", ";", ":", "@", "&", "+", " ", "a b", "\t"],
  ["\0", "\r\nX: y", "é", "e\u0301", "🙂", "\uFEFF", "\u202E"],
  ["\uD800", "\uDC00", "\uDC00\uD800", "x\uD83D"],
  ["__proto__", "undefined", "null"]
].flat())

/** Any string, well-formed or not. */
export const anyString = FastCheck.oneof(
  FastCheck.array(character, { maxLength: 12 }).map((characters) => characters.join("")),
  FastCheck.array(unit, { maxLength: 12 }).map((units) => units.join("")),
  nasty,
  FastCheck.tuple(nasty, nasty).map((both) => both.join(""))
)

/** Any string of exactly `length` characters. */
export const stringOf = (length: number) =>
  FastCheck.oneof(
    { weight: 4, arbitrary: FastCheck.array(character, { minLength: length, maxLength: length }) },
    { weight: 2, arbitrary: nasty.map((text) => [text.repeat(length), "x".repeat(length)]) },
    {
      weight: 1,
      arbitrary: FastCheck.array(FastCheck.oneof(unit, character), { minLength: length, maxLength: length })
    }
  ).map((parts) => [...parts.join("")].slice(0, length).join(""))

/** Whether UTF-8 can encode the string. */
export const isWellFormed = (value: string): boolean => !/\p{Cs}/u.test(value)

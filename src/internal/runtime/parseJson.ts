/** Parses JSON without loss: a number that JavaScript cannot hold arrives as a string of its digits. */
import * as Either from "effect/Either"

/** Finds texts that may have such a number. Long runs of digits within strings, such as ids, rarely follow these characters. */
const mayLoseDigits = /(?:^|[[:,\s])-?(?:\d{16}|[\d.]+e\+?\d{3})/i

/** Numbers outside of strings. */
const numbers = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi

/**
 * Whether a JavaScript number has the value of a JSON number, or is written with the same digits. Fractions and exponents are rounded, as
 * everywhere, unless to infinity.
 */
const isHeld = (number: string): boolean => {
  const value = Number(number)
  return Number.isSafeInteger(value) || String(value) === number ||
    (Number.isFinite(value) && (/[.e]/i.test(number) || BigInt(value) === BigInt(number)))
}

/** Whether a string is a number that JavaScript cannot hold, as `parse` writes it. */
export const isLostNumber = (text: string): boolean => /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && !isHeld(text)

const quoteLost = (number: string): string => isHeld(number) ? number : `"${number}"`

/** The place after the string that begins at `start`. A quote after an odd number of backslashes does not end it. */
export const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf("\"", start + 1);; quote = text.indexOf("\"", quote + 1)) {
    let backslash = quote - 1
    while (text[backslash] === "\\") backslash--
    if ((quote - backslash) % 2 === 1) return quote + 1
  }
}

/** Quotes the numbers of valid JSON that would lose digits. */
const quoteNumbers = (text: string): string => {
  const parts: Array<string> = []
  let begin = 0
  for (let quote = text.indexOf("\""); quote >= 0; quote = text.indexOf("\"", begin)) {
    const end = endOfString(text, quote)
    parts.push(text.slice(begin, quote).replace(numbers, quoteLost), text.slice(quote, end))
    begin = end
  }
  parts.push(text.slice(begin).replace(numbers, quoteLost))
  return parts.join("")
}

/**
 * Parses JSON, or throws a `SyntaxError`. An integer that a JavaScript number would round, such as 9007199254740993, becomes a string of
 * its digits, as in PostgreSQL's driver. So does a number that is too large, such as 1e400.
 */
export const parse = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  if (!mayLoseDigits.test(text)) return value
  const exact = quoteNumbers(text)
  return exact === text ? value : JSON.parse(exact)
}

/** Parses JSON like `parse`, but does not throw. */
export const parseJson = (text: string): Either.Either<unknown, unknown> => Either.try(() => parse(text))

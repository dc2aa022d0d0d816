/** Decodes bytes to whole lines of text. A line that is no UTF-8 or too long ends with a mark, which no valid text contains. */
import * as Either from "effect/Either"

/**
 * Lone surrogates, which are no result of decoding UTF-8: in a text they come in pairs only. A line that is too long is cut at its mark.
 * If the rest has an odd number of double quotes, `,"` follows: so a field of CSV is open at the end of the line, or not, as it was.
 */
export const marks = { invalid: "\uD800", tooLong: "\uD801" } as const

const newline = 10
const quote = 0x22

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const lossy = new TextDecoder("utf-8", { ignoreBOM: true })

/** The number of bytes that are shown of a line that is too long. */
const shownBytes = 1024

/** Decodes one line, or whole lines, without the newline at the end. */
const decodeLine = (line: Uint8Array): string =>
  Either.getOrElse(Either.try(() => strict.decode(line)), () => `${lossy.decode(line)}${marks.invalid}`)

/** Decodes whole lines, faster all at once. */
const decode = (lines: Uint8Array): string =>
  Either.getOrElse(Either.try(() => strict.decode(lines)), () => {
    let text = ""
    for (let begin = 0; begin < lines.length;) {
      const end = lines.indexOf(newline, begin)
      text += `${decodeLine(lines.subarray(begin, end))}\n`
      begin = end + 1
    }
    return text
  })

const concat = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = parts
  if (parts.length === 1 && first !== undefined) return first
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

const hasOddQuotes = (bytes: Uint8Array): boolean =>
  bytes.reduce((isOdd, byte) => byte === quote ? !isOdd : isOdd, false)

/** The beginning of a line that is too long, and whether the rest of it has an odd number of double quotes. */
interface LongLine {
  readonly beginning: Uint8Array
  readonly isOdd: boolean
}

const longLine = (line: Uint8Array): LongLine => ({
  beginning: line.slice(0, shownBytes),
  isOdd: hasOddQuotes(line.subarray(shownBytes))
})

const tooLong = ({ beginning, isOdd }: LongLine): string =>
  `${lossy.decode(beginning)}${marks.tooLong}${isOdd ? ",\"" : ""}\n`

/** Decodes whole lines. Some may be too long. */
const decodeBounded = (lines: Uint8Array, maxBytes: number): string => {
  if (lines.length <= maxBytes) return decode(lines)
  let text = ""
  for (let begin = 0; begin < lines.length;) {
    const end = lines.indexOf(newline, begin)
    text += end - begin > maxBytes
      ? tooLong(longLine(lines.subarray(begin, end)))
      : decode(lines.subarray(begin, end + 1))
    begin = end + 1
  }
  return text
}

/** Makes a decoder. No more than `maxBytes` of a line are kept. */
export const makeLineDecoder = (maxBytes: number) => {
  /** The parts of a line that has not ended yet. */
  let parts: Array<Uint8Array> = []
  let size = 0
  /** The line that has not ended yet, if it is too long already. */
  let long: LongLine | undefined
  let isStart = true

  const withoutByteOrderMark = (text: string): string => {
    if (!isStart || text === "") return text
    isStart = false
    return text.startsWith("\uFEFF") ? text.slice(1) : text
  }

  const keep = (part: Uint8Array): void => {
    if (long !== undefined) long = { ...long, isOdd: long.isOdd !== hasOddQuotes(part) }
    else if (part.length > 0) {
      // A copy: the runtime may use the memory of the chunk again.
      parts.push(new Uint8Array(part))
      size += part.length
      if (size <= maxBytes) return
      long = longLine(concat(parts))
      parts = []
    }
  }

  /** Ends the line, by the last bytes of it with the newline. */
  const endLine = (bytes: Uint8Array): string => {
    const text = long === undefined
      ? decodeBounded(concat([...parts, bytes]), maxBytes)
      : tooLong({ ...long, isOdd: long.isOdd !== hasOddQuotes(bytes) })
    parts = []
    size = 0
    long = undefined
    return text
  }

  return {
    /** Takes bytes, and returns the lines that are whole now, each with its newline. */
    push: (bytes: Uint8Array): string => {
      const first = bytes.indexOf(newline) + 1
      const last = bytes.lastIndexOf(newline) + 1
      // Only the first line is copied, to be joined with its beginning.
      const line = first === 0 ? "" : endLine(bytes.subarray(0, first))
      const lines = last === first ? line : line + decodeBounded(bytes.subarray(first, last), maxBytes)
      keep(bytes.subarray(last))
      return withoutByteOrderMark(lines)
    },
    /** Returns the last line if it has no newline. */
    end: (): string => withoutByteOrderMark(size === 0 ? "" : endLine(Uint8Array.of(newline)))
  }
}

/** Makes a counter of rows: lines, or rows of CSV without the header, whose fields may contain newlines. */
export const makeRowCounter = (format: "json" | "csv") => {
  let count = 0
  let isQuoted = false
  let isLineEmpty = true
  /** The header of CSV has one column only: there an empty line is a row, whose value is missing. */
  let hasOneColumn = format === "csv"
  const add = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === newline && !isQuoted) {
        if (!isLineEmpty || (hasOneColumn && count > 0)) count++
        isLineEmpty = true
      } else {
        if (byte === quote && format === "csv") isQuoted = !isQuoted
        if (byte === 0x2c && count === 0 && !isQuoted) hasOneColumn = false
        if (byte !== 13) isLineEmpty = false
      }
    }
  }
  return {
    add,
    /** The number of rows so far; with the last one, if it has no newline. */
    count: (): number => Math.max(0, count + (isLineEmpty ? 0 : 1) - (format === "csv" ? 1 : 0))
  }
}

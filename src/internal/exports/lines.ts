/** Decodes bytes to whole lines of text. A line that is no UTF-8 or too long ends with a mark, which no valid text contains. */
import * as Either from "effect/Either"

/** Lone surrogates, which are no result of decoding UTF-8: in a text they come in pairs only. */
export const marks = { invalid: "\uD800", tooLong: "\uD801" } as const

const newline = 10

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

/** A line that is too long: its beginning and the mark. */
const tooLong = (line: Uint8Array): string => `${lossy.decode(line.subarray(0, shownBytes))}${marks.tooLong}\n`

/** Decodes whole lines. Some may be too long. */
const decodeBounded = (lines: Uint8Array, maxBytes: number): string => {
  if (lines.length <= maxBytes) return decode(lines)
  let text = ""
  for (let begin = 0; begin < lines.length;) {
    const end = lines.indexOf(newline, begin)
    text += end - begin > maxBytes ? tooLong(lines.subarray(begin, end)) : decode(lines.subarray(begin, end + 1))
    begin = end + 1
  }
  return text
}

/** Makes a decoder. No more than `maxBytes` of a line are kept. */
export const makeLineDecoder = (maxBytes: number) => {
  /** The parts of a line that has not ended yet. */
  let parts: Array<Uint8Array> = []
  let size = 0
  let isSkipping = false
  let isStart = true

  const withoutByteOrderMark = (text: string): string => {
    if (!isStart || text === "") return text
    isStart = false
    return text.startsWith("\uFEFF") ? text.slice(1) : text
  }

  const keep = (part: Uint8Array): string => {
    if (part.length === 0 || isSkipping) return ""
    // A copy: the runtime may use the memory of the chunk again.
    parts.push(new Uint8Array(part))
    size += part.length
    if (size <= maxBytes) return ""
    const text = tooLong(concat(parts))
    parts = []
    size = 0
    isSkipping = true
    return text
  }

  return {
    /** Takes bytes, and returns the lines that are whole now, each with its newline. */
    push: (bytes: Uint8Array): string => {
      const first = bytes.indexOf(newline) + 1
      if (first === 0) return withoutByteOrderMark(keep(bytes))
      const last = bytes.lastIndexOf(newline) + 1
      // Only the first line is copied, to be joined with its beginning.
      const line = isSkipping ? "" : decodeBounded(concat([...parts, bytes.subarray(0, first)]), maxBytes)
      isSkipping = false
      parts = []
      size = 0
      const lines = last === first ? line : line + decodeBounded(bytes.subarray(first, last), maxBytes)
      return withoutByteOrderMark(lines) + keep(bytes.subarray(last))
    },
    /** Returns the last line if it has no newline. */
    end: (): string => withoutByteOrderMark(size === 0 ? "" : `${decodeLine(concat(parts))}\n`)
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
        if (byte === 0x22 && format === "csv") isQuoted = !isQuoted
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

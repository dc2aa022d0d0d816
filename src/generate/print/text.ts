/** Writes strings, names and comments of TypeScript. Nothing of a document gets into code but by these functions. */
import { isIdentifier } from "../model/names.js"

/** A string literal. */
export const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** The name of a field in an object. */
export const key = (name: string): string => isIdentifier(name) ? name : quote(name)

const width = 116

/** Breaks a paragraph into lines. */
const wrap = (paragraph: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of paragraph.split(" ")) {
    if (line !== "" && line.length + word.length + 1 > width) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Text of a document that ends no comment and begins no tag. */
const harmless = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim().replaceAll("*/", "*\\/").replace(/(^|\s)@/g, "$1\\@")

/** The paragraphs of a text that people wrote in Markdown. */
export const paragraphs = (text: string | undefined): ReadonlyArray<string> =>
  (text ?? "").split(/\r?\n\s*\n/).map(harmless).filter((paragraph) => paragraph !== "")

/** A doc comment; empty if there is nothing to say. */
export const docComment = (parts: ReadonlyArray<string>): string => {
  const lines = parts.flatMap((part, index) => index === 0 || part.startsWith("@") ? wrap(part) : ["", ...wrap(part)])
  if (lines.length === 0) return ""
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`
}

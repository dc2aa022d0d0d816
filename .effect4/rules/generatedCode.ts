/** Tests of the generator expect code as text: it is spelled as the generator of Effect 4 spells it. */
import type ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"
import * as Spelling from "../replacements/src/generate/print/effectSchema.js"

const schema = "Schema"

/** The end of what begins with a bracket, if it is within the text. Texts in quotes have no brackets that count. */
const endOf = (code: string, start: number): number => {
  let depth = 0
  let isQuoted = false
  for (let at = start; at < code.length; at++) {
    const char = code.charAt(at)
    if (char === "\\") at++
    else if (char === "\"") isQuoted = !isQuoted
    else if (isQuoted) continue
    else if ("([{".includes(char)) depth++
    else if (")]}".includes(char) && --depth === 0) return at
  }
  return -1
}

/** The parts between commas that are in no bracket. */
const split = (code: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let begin = 0
  for (let at = 0; at < code.length; at++) {
    const end = "([{".includes(code.charAt(at)) ? endOf(code, at) : at
    if (end < 0) break
    at = end
    if (code.charAt(at) === ",") {
      parts.push(code.slice(begin, at).trim())
      begin = at + 1
    }
  }
  return [...parts, code.slice(begin).trim()].filter((part) => part !== "")
}

/** The values of an index, `{ key: Schema.String, value: Schema.Unknown }`. */
const valuesOf = (index: string | undefined): string | undefined =>
  /^\{ key: Schema\.String, value: ([^]*) \}$/.exec(index ?? "")?.[1]

const spellings: Readonly<Record<string, (args: ReadonlyArray<string>) => string | undefined>> = {
  Literal: (args) => Spelling.literalOf(schema, args),
  Record: ([index]) => {
    const values = valuesOf(index)
    return values === undefined ? undefined : Spelling.recordOf(schema, values)
  },
  Struct: ([fields = "", index]) =>
    index === undefined ? undefined : Spelling.structOf(schema, fields, valuesOf(index)),
  Tuple: (args) => {
    const [first = "", rest] = args
    return first.startsWith("[")
      ? Spelling.tupleOf(schema, split(first.slice(1, -1)), [], rest)
      : Spelling.tupleOf(schema, args, [], undefined)
  },
  Union: (args) => Spelling.unionOf(schema, args),
  filter: ([test]) => `Schema.check(Schema.makeFilter(${test}))`,
  optionalElement: ([element]) => `Schema.optionalKey(${element})`
}

const respell = (code: string): string => {
  const call = /\bSchema\.(\w+)\(/.exec(code)
  if (call === null) return code
  const [before, name = ""] = call
  const open = call.index + before.length - 1
  const end = endOf(code, open)
  if (end < 0) return code.slice(0, open + 1) + respell(code.slice(open + 1))
  const args = split(code.slice(open + 1, end)).map(respell)
  const spelled = spellings[name]?.(args) ?? `Schema.${name}(${respell(code.slice(open + 1, end))})`
  return code.slice(0, call.index) + spelled + respell(code.slice(end + 1))
}

const text = ({ text: code }: ts.LiteralLikeNode, c: File): string | undefined => {
  if (!c.path.startsWith("test/generate/") || !code.includes("Schema.")) return undefined
  const spelled = respell(code).replaceAll(".annotations(", ".annotate(").replaceAll("Schema.Schema<", "Schema.Codec<")
  return spelled === code ? undefined : JSON.stringify(spelled)
}

export default rules({ nodes: { NoSubstitutionTemplateLiteral: text, StringLiteral: text } })

/** The faults that no test notices, by file, each with the reason why none has to. */
import type { Stryker } from "@stryker-mutator/core"
import { readFileSync } from "node:fs"

/** A fault, where it was put, and what came of it. */
export type Result = Awaited<ReturnType<Stryker["runMutationTest"]>>[number]

export type Survivors = ReadonlyArray<{
  /** Why no test has to notice. */
  readonly why: string
  /** By file of `src`: what stands there, and what stands there instead. */
  readonly faults: Readonly<Record<string, ReadonlyArray<string>>>
}>

/** What is listed, each with its file. */
export const entriesOf = ({ faults }: Survivors[number]): ReadonlyArray<string> =>
  Object.entries(faults).flatMap(([file, each]) => each.map((fault) => `${file}: ${fault}`))

/** Code in one line, and not too long. */
const brief = (code: string): string => {
  const line = code.replaceAll(/\s+/g, " ").trim()
  return line.length <= 80 ? line : `${line.slice(0, 60)} … ${line.slice(-18)}`
}

/** What a fault does, without its place: `a && b ⇒ a || b`. It stays the same when lines are moved. */
export const faultOf = ({ fileName, location: { end, start }, replacement }: Result): string => {
  const lines = readFileSync(fileName, "utf8").split("\n").slice(start.line, end.line + 1)
  const last = lines.length - 1
  lines[last] = lines[last]!.slice(0, end.column)
  lines[0] = lines[0]!.slice(start.column)
  return `${brief(lines.join("\n"))} ⇒ ${brief(replacement ?? "")}`
}

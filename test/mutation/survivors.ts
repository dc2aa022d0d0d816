/** The faults that no test notices, by file, each with the reason why none has to. */
import type { Stryker } from "@stryker-mutator/core"
import { readFileSync } from "node:fs"

/** A fault, where it was put, and what came of it. */
export type Result = Awaited<ReturnType<Stryker["runMutationTest"]>>[number]

export type Survivors = ReadonlyArray<{
  /** Why no test has to notice. */
  readonly why: string
  /** By file of `src`: what stands there, and what stands there instead; twice for two that look the same. */
  readonly faults: Readonly<Record<string, ReadonlyArray<string>>>
}>

/** Code in one line, and not too long. */
const brief = (code: string): string => {
  const line = code.replaceAll(/\s+/g, " ").trim()
  return line.length <= 80 ? line : `${line.slice(0, 60)} … ${line.slice(-18)}`
}

/** What a fault does, without its line: `src/a.ts: a && b ⇒ a || b`. It stays the same when lines are moved. */
export const entryOf = ({ fileName, location: { end, start }, replacement }: Result): string => {
  const lines = readFileSync(fileName, "utf8").split("\n").slice(start.line, end.line + 1)
  const last = lines.length - 1
  lines[last] = lines[last]!.slice(0, end.column)
  lines[0] = lines[0]!.slice(start.column)
  return `${fileName}: ${brief(lines.join("\n"))} ⇒ ${brief(replacement ?? "")}`
}

/** Holds what survived against the list, where each entry is for one: what is not listed, and what is and did not survive. */
export const compare = (survivors: Survivors, results: ReadonlyArray<Result>) => {
  const spare = survivors.flatMap(({ faults }) =>
    Object.entries(faults).flatMap(([file, each]) => each.map((fault) => `${file}: ${fault}`))
  )
  const unlisted = results.filter((result) => {
    const place = spare.indexOf(entryOf(result))
    if (place >= 0) spare.splice(place, 1)
    return place < 0
  })
  return { unlisted, spare }
}

/** The changes between two versions of an action, as a unified diff. */
import { createTwoFilesPatch } from "diff"
import * as Actions from "../../Actions.js"
import type { ActionVersion } from "../../operations/listActionVersions.js"
import { bold, dim, green, printable, red } from "./text.js"

const paint = (line: string): string =>
  /^(?:\+\+\+|---)/.test(line)
    ? bold(line)
    : line.startsWith("+")
    ? green(line)
    : line.startsWith("-")
    ? red(line)
    : line.startsWith("@@")
    ? dim(line)
    : line

export const patches = (before: ActionVersion, after: ActionVersion) =>
  Actions.changes(before, after).map(({ after: now, before: old, part }) => ({
    part,
    patch: createTwoFilesPatch(
      `${part} of #${before.number}`,
      `${part} of #${after.number}`,
      old,
      now,
      undefined,
      undefined,
      { context: 3 }
    ).split("\n").slice(1, -1).join("\n")
  }))

/** All changes as text with colours. */
export const shown = (before: ActionVersion, after: ActionVersion): string => {
  const texts = patches(before, after).map(({ patch }) => printable(patch).split("\n").map(paint).join("\n"))
  return texts.length === 0 ? "Code, dependencies and secrets are the same." : texts.join("\n")
}

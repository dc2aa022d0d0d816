/** Adapts docstrings to the site's readers, who do not have the contract, and want the page of the operation. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { CommentDisplayPart, Models } from "typedoc"

/** Removes the references to the contract from a text. */
export const withoutContract = (text: string): string => text.replace(/\s+\(contract: [^)]*\)/g, "")

const adapted = (part: CommentDisplayPart): CommentDisplayPart =>
  part.kind === "text" ? { ...part, text: withoutContract(part.text) } : part

/** The names that the file of an operation exports. */
const exportsOf = (operation: string): ReadonlyArray<string> => {
  const path = fileURLToPath(new URL(`../../src/operations/${operation}.ts`, import.meta.url))
  return Array.from(
    readFileSync(path, "utf8").matchAll(/^export (?:const|interface|type|class) (\w+)/gm),
    ([, name = ""]) => name
  )
}

/** Adapts all docstrings of a project. What the file of an operation declares links to the operation's page. */
export const adaptComments = (project: Models.ProjectReflection, operations: ReadonlyArray<string>): void => {
  for (const { comment } of Object.values(project.reflections)) {
    if (comment === undefined) continue
    comment.summary = comment.summary.map(adapted)
    for (const tag of comment.blockTags) tag.content = tag.content.map(adapted)
  }
  for (const operation of operations) {
    const page = project.documents?.find(({ name }) => name === operation)
    if (page === undefined) throw new Error(`${operation} has no page`)
    const names = exportsOf(operation)
    for (const reflection of Object.values(project.reflections)) {
      if (reflection.isDocument() || !names.includes(reflection.name)) continue
      reflection.comment?.summary.push(
        { kind: "text", text: "\n\nPage of the operation: " },
        { kind: "inline-tag", tag: "@link", text: operation, target: page }
      )
    }
  }
}

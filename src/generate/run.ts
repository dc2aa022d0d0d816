/** Writes the folder of declarations that the command `generate` is asked for, or checks it. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { type Change, compare } from "./compare/compare.js"
import { type Interface, stringify } from "./compare/interface.js"
import * as Folder from "./folder.js"
import { makeFormatter } from "./format.js"
import { generate, type Selection } from "./generate.js"
import type { stages } from "./model/operation.js"
import { readDocument } from "./read/document.js"

/** `--check` found that the folder is not what would be written. */
class Outdated extends Data.TaggedError("Outdated")<{ readonly message: string }> {}

const split = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.flatMap((value) => value.split(",")).map((value) => value.trim()).filter((value) => value !== "")

/** The files of a document, formatted, with the interface that they offer. */
const filesOf = (spec: string, selection: Selection) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const document = yield* readDocument(yield* fs.readFileString(spec))
    const generated = yield* generate(document, selection)
    const format = yield* makeFormatter
    const files = generated.files.map(({ path, text }) => ({ path, text: format(path, text) }))
    const facts = { path: Folder.interfaceFile, text: stringify(generated.interface) }
    return { ...generated, files: [...files, facts] }
  })

const describe = ({ detail, kind, path }: Change): string =>
  `${kind.padEnd(9)} ${path}${detail === "" ? "" : `: ${detail}`}`

const changesOf = (text: string | undefined, now: Interface): ReadonlyArray<string> => {
  if (text === undefined) return ["the folder does not say which interface it is for"]
  const before = JSON.parse(text) as Interface // sound: this command wrote it, and only a report depends on it
  const changes = compare(before, now).map(describe)
  return changes.length > 0 ? changes : ["the interface is the same, but the files differ"]
}

const shown = 20

const summary = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length <= shown ? lines : [...lines.slice(0, shown), `… and ${lines.length - shown} more files`]

/** Prints what it did. Failures have messages of one sentence. */
export const run = (options: {
  readonly spec: string
  readonly out: string
  readonly only: ReadonlyArray<string>
  readonly group: ReadonlyArray<string>
  readonly stage: typeof stages[number]
  readonly check: boolean
}) =>
  Effect.gen(function*() {
    const selection = { only: split(options.only), groups: split(options.group), stage: options.stage }
    const { files, interface: facts, notes } = yield* filesOf(options.spec, selection)
    yield* Effect.forEach(notes, ({ message, pointer }) => Console.error(`note: ${message} (at ${pointer})`))
    const operations = Object.keys(facts.operations).length
    if (!options.check) {
      yield* Folder.write(options.out, files)
      return yield* Console.log(
        `${options.out}: ${operations} operations, ${Object.keys(facts.schemas).length} schemas`
      )
    }
    const existing = yield* Folder.read(options.out)
    const differences = Folder.differences(existing, files)
    if (differences.length === 0) return yield* Console.log(`${options.out}: ${operations} operations, nothing changed`)
    yield* Effect.forEach(changesOf(existing.get(Folder.interfaceFile), facts), (line) => Console.log(line))
    yield* Effect.forEach(summary(differences), (line) => Console.error(line))
    return yield* new Outdated({ message: `${options.out} is not what would be generated` })
  })

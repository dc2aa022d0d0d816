/** Writes the folder of declarations that the command `generate` is asked for, or checks it. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { counted } from "../cli/shared/text.js"
import { type Change, compare } from "./compare/compare.js"
import { type Interface, parse, stringify } from "./compare/interface.js"
import * as Folder from "./folder.js"
import { makeFormatter } from "./format.js"
import { generate, type Options } from "./generate.js"
import type { responses, stages } from "./model/operation.js"
import type { Note } from "./model/specError.js"
import { applyFiles } from "./overlay/files.js"
import { validate } from "./read/document.js"
import { parse as parseText } from "./read/parse.js"

/** `--check` found that the folder is not what would be written. */
class Outdated extends Data.TaggedError("Outdated")<{ readonly message: string }> {}

const split = (values: ReadonlyArray<string>): ReadonlyArray<string> =>
  values.flatMap((value) => value.split(",")).map((value) => value.trim()).filter((value) => value !== "")

/** The files of a document, formatted, with the interface that they offer. */
const filesOf = (spec: string, overlays: ReadonlyArray<string>, options: Options) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const [changed, overlayNotes] = yield* applyFiles(yield* parseText(yield* fs.readFileString(spec)), overlays)
    const { document, faults } = yield* validate(changed)
    const generated = yield* generate(document, options, faults)
    const format = yield* makeFormatter
    const files = generated.files.map(({ path, text }) => ({ path, text: format(path, text) }))
    const facts = { path: Folder.interfaceFile, text: stringify(generated.interface) }
    return { ...generated, files: [...files, facts], notes: [...overlayNotes, ...generated.notes] }
  })

/** A message with its place in the document, once. */
const located = ({ message, pointer }: Note): string =>
  message.endsWith(`(at ${pointer})`) ? message : `${message} (at ${pointer})`

const describe = ({ detail, kind, path }: Change): string =>
  `${kind.padEnd(9)} ${path}${detail === "" ? "" : `: ${detail}`}`

/** The changes since the interface that a folder is for, if it says that. */
const changesOf = (text: string | undefined, now: Interface): ReadonlyArray<Change> | undefined => {
  const before = text === undefined ? undefined : parse(text)
  return before === undefined ? undefined : compare(before, now)
}

const report = (changes: ReadonlyArray<Change> | undefined): ReadonlyArray<string> =>
  changes === undefined
    ? ["the folder does not say which interface it is for"]
    : changes.length === 0
    ? ["the interface is the same, but the files differ"]
    : changes.map(describe)

const shown = 20

const summary = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length <= shown ? lines : [...lines.slice(0, shown), `… and ${counted(lines.length - shown, "more file")}`]

/** Prints what it did. Failures have messages of one sentence. */
export const run = (options: {
  readonly spec: string
  readonly out: string
  /** Files of overlays, or the names of those that come with the package. */
  readonly overlay: ReadonlyArray<string>
  readonly only: ReadonlyArray<string>
  readonly group: ReadonlyArray<string>
  readonly stage: typeof stages[number]
  readonly responses: typeof responses[number]
  readonly check: boolean
  /** Prints the result as a line of JSON. */
  readonly json: boolean
}) =>
  Effect.gen(function*() {
    const { files, interface: facts, leftOut, notes } = yield* filesOf(options.spec, options.overlay, {
      only: split(options.only),
      groups: split(options.group),
      stage: options.stage,
      responses: options.responses
    })
    yield* Effect.forEach(notes, (note) => Console.error(`note: ${located(note)}`))
    yield* Effect.forEach(leftOut, ({ error, name }) => Console.error(`left out: ${name}: ${located(error)}`))
    const [operations, schemas] = [Object.keys(facts.operations).length, Object.keys(facts.schemas).length]
    const result = {
      folder: options.out,
      operations,
      schemas,
      leftOut: leftOut.map(({ error, name }) => ({ operation: name, reason: located(error) }))
    }
    const without = leftOut.length === 0 ? "" : `; ${counted(leftOut.length, "operation")} left out`
    const print = (line: string, more: object = {}) =>
      Console.log(options.json ? JSON.stringify({ ...result, ...more }) : line)
    if (!options.check) {
      yield* Folder.write(options.out, files)
      return yield* print(
        `${options.out}: ${counted(operations, "operation")}, ${counted(schemas, "schema")}${without}`
      )
    }
    const existing = yield* Folder.read(options.out)
    const differences = Folder.differences(existing, files)
    if (differences.length === 0) {
      return yield* print(`${options.out}: ${counted(operations, "operation")}, nothing changed${without}`, {
        changes: [],
        files: []
      })
    }
    const changes = changesOf(existing.get(Folder.interfaceFile), facts)
    yield* print(report(changes).join("\n"), { changes, files: differences })
    if (!options.json) yield* Effect.forEach(summary(differences), (line) => Console.error(line))
    return yield* new Outdated({ message: `${options.out} is not what would be generated` })
  })

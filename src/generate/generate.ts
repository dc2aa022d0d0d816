/** From a document to files: nothing here reads or writes a file. */
import * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Interface, interfaceOf } from "./compare/interface.js"
import type { Operation, responses } from "./model/operation.js"
import type { Note, SpecError } from "./model/specError.js"
import { Components } from "./print/components.js"
import { type File, FilePrinter, isLocal } from "./print/files.js"
import { attempt, attemptEffect } from "./read/attempt.js"
import { type Faults, isHarmless } from "./read/document.js"
import { isObject, type JsonObject } from "./read/json.js"
import { type Read, readOperations } from "./read/operations.js"
import { SchemaReader } from "./read/schemaReader.js"
import { select, type Selection } from "./select.js"

/** What is generated, and how. */
export interface Options extends Selection {
  /** Default: `strict`. */
  readonly responses?: typeof responses[number]
}

/** The files, unformatted, and what they say of the interface. */
export interface Generated {
  readonly files: ReadonlyArray<File>
  readonly interface: Interface
  readonly notes: ReadonlyArray<Note>
  /** The selected operations that cannot be generated. */
  readonly leftOut: ReadonlyArray<{ readonly name: string; readonly error: SpecError }>
}

const operationsIn = (all: ReadonlyArray<Read>): ReadonlyArray<Operation> =>
  all.flatMap((read) => read._tag === "Operation" ? [read.operation] : [])

/** An operation whose schemas of `components` can be read, or the reason that they cannot. */
const withComponents = (reader: SchemaReader, read: Read): Read =>
  read._tag === "Unreadable" ? read : Either.match(attempt(() => new Components(reader, [read.operation])), {
    onLeft: (error) => ({ ...read, _tag: "Unreadable", error }),
    onRight: () => read
  })

/** Reads the operations of a document, or those with the given names, and the schemas that they use. */
const readAll = (document: JsonObject, faults: Faults, names?: ReadonlySet<string>) => {
  const reader = new SchemaReader(document, faults)
  const read = readOperations(document, reader, names)
  const whole = attempt(() => new Components(reader, operationsIn(read)))
  if (Either.isRight(whole)) return { all: read, reader, components: whole.right }
  const all = read.map((each) => withComponents(reader, each))
  return { all, reader, components: new Components(reader, operationsIn(all)) }
}

/** The file of a schema depends on the whole document, so that a selection has the same files as the whole. */
const print = (document: JsonObject, options: Options, faults: Faults): Generated => {
  const { all, components, reader } = readAll(document, faults)
  const chosen = select(all, options)
  const selected = operationsIn(chosen)
  const leftOut = chosen.flatMap((read) => read._tag === "Unreadable" ? [read] : [])
  const [first] = leftOut
  if (first !== undefined && (selected.length === 0 || (options.only ?? []).length > 0)) throw first.error
  const info = isObject(document["info"]) ? document["info"] : {}
  const [title, version] = [String(info["title"] ?? "a document without a title"), String(info["version"] ?? "")]
  const printer = new FilePrinter(components, reader, title, options.responses === "lenient")
  const operations = selected.map((operation) => printer.operation(operation))
  const shared = sharedFiles(components, selected).map(([file, variants]) => printer.schemas(file, variants))
  const files = [...operations, ...shared]
  return {
    files: [printer.index(files.map(({ path }) => path), version), ...files],
    interface: interfaceOf({ title, version }, components, selected),
    leftOut: leftOut.map(({ error, name }) => ({ name, error })),
    notes: [
      ...[...faults].flatMap(([part, { message }]) => isHarmless(part) ? [{ pointer: part, message }] : []),
      // Those on other operations, and on what only other operations use, are left out.
      ...readAll(document, faults, new Set(selected.map(({ name }) => name))).reader.notes
    ]
  }
}

const sharedFiles = (components: Components, selected: ReadonlyArray<Operation>) => {
  const shared = new Set(selected.flatMap((operation) => components.usedBy(operation)).filter((each) => !isLocal(each)))
  return Object.entries(Arr.groupBy(shared, (variant) => components.fileOf(variant))).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([file, variants]) => [file, [...variants].sort((a, b) => a.name < b.name ? -1 : 1)] as const)
}

/** Generates the files of the selected operations of a document, without those in which there are faults. */
export const generate = (
  document: JsonObject,
  options: Options = {},
  faults: Faults = new Map()
): Effect.Effect<Generated, SpecError> => attemptEffect(() => print(document, options, faults))

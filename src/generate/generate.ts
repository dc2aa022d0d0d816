/** From a document to files: nothing here reads or writes a file. */
import * as Arr from "effect/Array"
import type * as Effect from "effect/Effect"
import { type Interface, interfaceOf } from "./compare/interface.js"
import { type Operation, type Stage, stages } from "./model/operation.js"
import { type Note, SpecError } from "./model/specError.js"
import { Components } from "./print/components.js"
import { type File, FilePrinter, isLocal } from "./print/files.js"
import { attempt } from "./read/attempt.js"
import { isObject, type JsonObject } from "./read/json.js"
import { type Read, readOperations } from "./read/operations.js"
import { SchemaReader } from "./read/schemaReader.js"

/** The operations to generate; all of them by default. */
export interface Selection {
  /** The names of operations, for example `getUser`. */
  readonly only?: ReadonlyArray<string>
  /** Groups of the SDK's methods, for example `users` or `actions.versions`, or tags. */
  readonly groups?: ReadonlyArray<string>
  /** The least stable stage. */
  readonly stage?: Stage
}

/** The files, unformatted, and what they say of the interface. */
export interface Generated {
  readonly files: ReadonlyArray<File>
  readonly interface: Interface
  readonly notes: ReadonlyArray<Note>
}

const letters = (text: string): string => text.toLowerCase().replace(/[-_\s]/g, "")

const isInGroup = ({ group }: Read, wanted: string): boolean => {
  const path = letters(group.join("."))
  return path === letters(wanted) || path.startsWith(`${letters(wanted)}.`)
}

const select = (all: ReadonlyArray<Read>, { groups = [], only = [], stage = "beta" }: Selection) => {
  const names = all.map(({ name }) => name)
  const unknownName = only.find((name) => !names.includes(name))
  if (unknownName !== undefined) {
    throw new SpecError({
      pointer: "#/paths",
      message: `the document has no operation ${unknownName}, only ${names.join(", ")}`
    })
  }
  const unknownGroup = groups.find((group) => !all.some((read) => isInGroup(read, group)))
  if (unknownGroup !== undefined) {
    const known = [...new Set(all.flatMap(({ group: [first] }) => first ?? []))].sort().join(", ")
    throw new SpecError({ pointer: "#/paths", message: `the document has no group ${unknownGroup}, only ${known}` })
  }
  return all.filter((read) =>
    (only.length === 0 || only.includes(read.name)) &&
    (groups.length === 0 || groups.some((group) => isInGroup(read, group))) &&
    stages.indexOf(read.stage) <= stages.indexOf(stage)
  )
}

/** Reads the operations of a document, or those with the given names, and the schemas that they use. */
const readAll = (document: JsonObject, names?: ReadonlySet<string>) => {
  const reader = new SchemaReader(document)
  const all = readOperations(document, reader, names)
  const operations = all.flatMap((read) => read._tag === "Operation" ? [read.operation] : [])
  return { all, reader, components: new Components(reader, operations) }
}

/** The file of a schema depends on the whole document, so that a selection has the same files as the whole. */
const print = (document: JsonObject, selection: Selection): Generated => {
  const { all, components, reader } = readAll(document)
  const chosen = select(all, selection)
  const selected = chosen.map((read) => {
    if (read._tag === "Unreadable") throw read.error
    return read.operation
  })
  const { title, version } = isObject(document["info"]) ? document["info"] : {}
  const printer = new FilePrinter(components, reader, String(title))
  const operations = selected.map((operation) => printer.operation(operation))
  const shared = sharedFiles(components, selected).map(([file, variants]) => printer.schemas(file, variants))
  const files = [...operations, ...shared]
  return {
    files: [printer.index(files.map(({ path }) => path), String(version)), ...files],
    interface: interfaceOf({ title: String(title), version: String(version) }, components, selected),
    // Those on other operations, and on what only other operations use, are left out.
    notes: readAll(document, new Set(chosen.map(({ name }) => name))).reader.notes
  }
}

const sharedFiles = (components: Components, selected: ReadonlyArray<Operation>) => {
  const shared = new Set(selected.flatMap((operation) => components.usedBy(operation)).filter((each) => !isLocal(each)))
  return Object.entries(Arr.groupBy(shared, (variant) => components.fileOf(variant))).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([file, variants]) => [file, [...variants].sort((a, b) => a.name < b.name ? -1 : 1)] as const)
}

/** Generates the files of the selected operations of a valid document. */
export const generate = (document: JsonObject, selection: Selection = {}): Effect.Effect<Generated, SpecError> =>
  attempt(() => print(document, selection))

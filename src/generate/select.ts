/** Chooses the operations to generate. */
import { stages } from "./model/operation.js"
import type { Stage } from "./model/operation.js"
import { SpecError } from "./model/specError.js"
import { nearest } from "./nearest.js"
import type { Read } from "./read/operations.js"

/** The operations to generate; all of them by default. */
export interface Selection {
  /** The names of operations, for example `getUser`, or the document's ids of them, for example `get_users_by_id`. */
  readonly only?: ReadonlyArray<string>
  /** Groups of the SDK's methods, for example `users` or `actions.versions`, or tags. */
  readonly groups?: ReadonlyArray<string>
  /** The least stable stage. */
  readonly stage?: Stage
}

const letters = (text: string): string => text.toLowerCase().replace(/[-_\s]/g, "")

const isInGroup = ({ group }: Read, wanted: string): boolean => {
  const path = letters(group.join("."))
  return path === letters(wanted) || path.startsWith(`${letters(wanted)}.`)
}

const unknown = (kind: string, name: string, known: ReadonlyArray<string>): SpecError =>
  new SpecError({
    pointer: "#/paths",
    message: `the document has no ${kind} ${name}; the nearest names are ${nearest(name, known).join(", ")}`
  })

/** The operations with a name or, if there are none, with an id. */
const named = (all: ReadonlyArray<Read>, wanted: string): ReadonlyArray<Read> => {
  const found = all.filter(({ name }) => name === wanted)
  return found.length > 0 ? found : all.filter(({ id }) => id === wanted)
}

/** Chooses operations. Throws a `SpecError` if nothing has one of the names. */
export const select = (
  all: ReadonlyArray<Read>,
  { groups = [], only = [], stage = "beta" }: Selection
): ReadonlyArray<Read> => {
  const chosen = new Set(only.flatMap((wanted) => {
    const found = named(all, wanted)
    if (found.length > 0) return found
    if (all.some((read) => isInGroup(read, wanted))) {
      throw new SpecError({ pointer: "#/paths", message: `${wanted} is a group of operations: use --group ${wanted}` })
    }
    throw unknown("operation", wanted, all.flatMap(({ id, name }) => id === undefined ? [name] : [name, id]))
  }))
  for (const wanted of groups) {
    if (!all.some((read) => isInGroup(read, wanted))) {
      throw unknown(
        "group",
        wanted,
        all.flatMap(({ group }) => group.map((_, index) => group.slice(0, index + 1).join(".")))
      )
    }
  }
  return all.filter((read) =>
    (only.length === 0 || chosen.has(read)) &&
    (groups.length === 0 || groups.some((group) => isInGroup(read, group))) &&
    stages.indexOf(read.stage) <= stages.indexOf(stage)
  )
}

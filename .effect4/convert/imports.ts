/** The imports of a converted file. */
import type { Binding } from "./names.js"

interface Import {
  readonly module: string
  /** The imported name; empty for the namespace. */
  readonly name: string
  readonly local: string
  readonly isSubpath: boolean
  isType: boolean
}

const baseOf = (module: string): string => module.slice(module.lastIndexOf("/") + 1)

/** The package, or the folder of one, whose index exports the namespace of a module. */
const indexOf = (module: string): string => module.slice(0, module.lastIndexOf("/"))

/** Local names of modules that would hide a global name that is in use everywhere. */
const localNames = new Map([["Array", "Arr"], ["Function", "Fn"], ["Number", "Num"], ["Record", "Rec"], [
  "String",
  "Str"
]])

export class Imports {
  readonly #used = new Map<string, Import>()
  readonly #taken: ReadonlySet<string>
  readonly #bySubpath: boolean

  /** `taken` are the names that the file declares itself. */
  constructor(taken: ReadonlySet<string>, bindings: Iterable<Binding>) {
    this.#taken = taken
    const all = [...bindings]
    this.#bySubpath = all.length === 0 || all.some((binding) => binding.isSubpath && binding.name === "")
  }

  /** Gives the local name of a namespace of Effect 4. */
  namespace(module: string, isType: boolean, binding?: Binding): string {
    const base = baseOf(module)
    const old = binding === undefined ? undefined : baseOf(binding.module)
    // The name of a package that is a namespace itself, such as `fast-check`, is no name for a variable.
    const follows = binding === undefined || binding.local === old && /^[A-Z]/.test(base)
    const wanted = binding === undefined ? localNames.get(base) ?? base : follows ? base : binding.local
    for (const known of this.#used.values()) {
      if (known.module === module && known.name === "") return this.#use(known, isType)
    }
    const local = this.#taken.has(wanted) ? `${wanted}_` : wanted
    const isSubpath = binding?.isSubpath ?? this.#bySubpath
    return this.#use({ module, name: "", local, isSubpath, isType }, isType)
  }

  /** Gives the local name of something that a module exports, imported by its name. */
  named(module: string, name: string, isType: boolean, binding: Binding): string {
    const local = binding.local === binding.name ? name : binding.local
    return this.#use({ module, name, local, isSubpath: binding.isSubpath, isType }, isType)
  }

  #use(one: Import, isType: boolean): string {
    const key = `${one.module} ${one.name} ${one.local}`
    const known = this.#used.get(key) ?? one
    this.#used.set(key, known)
    known.isType &&= isType
    return known.local
  }

  /** The import declarations. */
  print(): string {
    const lines: Array<string> = []
    const named = new Map<string, Array<Import & { readonly imported: string }>>()
    for (const one of this.#used.values()) {
      if (one.name === "" && (one.isSubpath || !one.module.includes("/"))) {
        lines.push(`import ${one.isType ? "type " : ""}* as ${one.local} from "${one.module}"`)
      } else {
        const isIndex = one.name === "" || !one.isSubpath && one.module.startsWith("effect/")
        const from = isIndex ? indexOf(one.module) : one.module
        const known = named.get(from) ?? []
        named.set(from, known)
        known.push({ ...one, imported: one.name === "" ? baseOf(one.module) : one.name })
      }
    }
    for (const [from, all] of named) {
      const areTypes = all.every((one) => one.isType)
      const names = all.map(({ imported, isType, local }) =>
        `${isType && !areTypes ? "type " : ""}${imported === local ? local : `${imported} as ${local}`}`
      )
      lines.push(`import ${areTypes ? "type " : ""}{ ${names.join(", ")} } from "${from}"`)
    }
    return lines.sort((a, b) => specifierOf(a).localeCompare(specifierOf(b))).join("\n")
  }
}

const specifierOf = (line: string): string => line.slice(line.lastIndexOf(" from "))

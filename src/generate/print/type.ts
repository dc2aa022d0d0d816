/** Writes shapes as types of TypeScript: recursive schemas need one, because none can be inferred. */
import type { Direction } from "../model/operation.js"
import {
  isLiteralStrings,
  isPlainString,
  type ObjectShape,
  type Primitive,
  type Shape,
  union,
  unknown
} from "../model/shape.js"
import { fieldsOf, loosen, type Names } from "./schema.js"
import { key, quote } from "./text.js"

const literal = (value: Primitive): string => typeof value === "string" ? quote(value) : String(value)

const typeOfLiteral = (value: Primitive): string => typeof value

export class TypePrinter {
  readonly #names: Names
  readonly #direction: Direction

  constructor(names: Names, direction: Direction) {
    this.#names = names
    this.#direction = direction
  }

  /** The type of the values of a shape. */
  print(shape: Shape): string {
    const target = this.#direction === "response" ? loosen(shape) : shape
    switch (target._tag) {
      case "Unknown":
      case "Never":
      case "Null":
      case "Boolean":
        return target._tag.toLowerCase()
      case "File":
        return "string"
      case "Ref":
        return this.#names.ref(target.name, this.#direction)
      case "Literal":
        return [
          ...new Set(target.values.map(this.#direction === "request" || target.isTag ? literal : typeOfLiteral))
        ].join(" | ")
      case "String":
        return this.#direction === "response" && target.format === "date-time" ? this.#names.use("Timestamp") : "string"
      case "Number":
        return "number"
      case "Array":
        return `ReadonlyArray<${this.print(target.items)}>`
      case "Tuple": {
        const elements = target.elements.map((element, index) =>
          index < target.required ? this.print(element) : `(${this.print(element)})?`
        )
        const rest = target.rest === undefined ? [] : [`...Array<${this.print(target.rest)}>`]
        return `readonly [${[...elements, ...rest].join(", ")}]`
      }
      case "Object":
        return `{ ${this.fields(target)} }`
      case "Union": {
        const isOpen = target.branches.some(isPlainString)
        const branches = isOpen
          ? union(target.branches.filter((branch) => !isLiteralStrings(branch)))
          : target
        if (branches._tag !== "Union") return this.print(branches)
        const types = branches.branches.map((branch) => this.print(branch))
        const others = this.#direction === "response" && target.tags !== undefined
          ? [`${this.#names.use("Unrecognized")}<${target.tags.map(quote).join(" | ")}>`]
          : []
        return [...new Set([...types, ...others])].join(" | ")
      }
    }
  }

  /** The fields of an object's type. */
  fields(shape: ObjectShape): string {
    const isRequest = this.#direction === "request"
    const fields = fieldsOf(shape, this.#direction)
    const { additional } = shape
    // A field that is not declared is most likely a mistake of the one who reads it.
    const rest = !isRequest && fields.length > 0 && additional === unknown
      ? undefined
      : typeof additional !== "string"
      ? this.print(additional)
      : fields.length === 0
      ? additional === "closed" && isRequest ? "never" : "unknown"
      : additional === "open" && isRequest
      ? "unknown"
      : undefined
    const lines = fields.map(({ name, required, shape }) => {
      const type = this.print(shape)
      const optional = isRequest && shape !== unknown ? `${type} | undefined` : type
      return required ? `readonly ${key(name)}: ${type}` : `readonly ${key(name)}?: ${optional}`
    })
    return [...lines, ...rest === undefined ? [] : [`readonly [name: string]: ${rest}`]].join("\n")
  }
}

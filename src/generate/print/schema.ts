/** Writes shapes as schemas of Effect: strict in requests, lenient in responses. */
import type { Direction } from "../model/operation.js"
import {
  anyString,
  type Field,
  isLiteralStrings,
  isPlainString,
  type LiteralShape,
  type NumberShape,
  type ObjectShape,
  type Primitive,
  type Shape,
  type StringShape,
  type TupleShape,
  union,
  unknown
} from "../model/shape.js"
import * as Spelling from "./effectSchema.js"
import { docComment, key, paragraphs, quote } from "./text.js"

/** Collects the names that a text uses, so that its file imports them. */
export interface Names {
  /** Writes a schema of `components`. */
  readonly ref: (name: string, direction: Direction) => string
  /** Notes the use of `Schema`, `Timestamp` or a function of `Schemas`. Returns the name. */
  readonly use: (name: string) => string
}

/** Formats that requests are checked for, by the names of their functions. */
const formats: Readonly<Record<string, string>> = {
  uri: "uri",
  email: "email",
  hostname: "hostname",
  uuid: "uuid",
  "date-time": "dateTime",
  date: "date",
  ipv4: "ipv4",
  ipv6: "ipv6"
}

const options = (entries: ReadonlyArray<readonly [name: string, value: string | number | undefined]>): string => {
  const given = entries.flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}`])
  return given.length === 0 ? "" : `{ ${given.join(", ")} }`
}

const literal = (value: Primitive): string => typeof value === "string" ? quote(value) : String(value)

/**
 * The shape that responses are decoded by: without limits, since a value beyond them is better than none.
 * Literals stay: they are written as open lists of known values.
 */
export const loosen = (shape: Shape): Shape => {
  switch (shape._tag) {
    case "String":
      return shape.format === "date-time" ? { ...anyString, format: "date-time" } : anyString
    case "File":
      return anyString
    case "Number":
      return { _tag: "Number", integer: false }
    case "Array":
      return { _tag: "Array", items: shape.items, unique: false }
    case "Union": {
      const loose = union(shape.branches.map(loosen))
      return loose._tag === "Union" && shape.tags !== undefined ? { ...loose, tags: shape.tags } : loose
    }
    default:
      return shape
  }
}

/** The literals by their kinds: strings, numbers, booleans. */
const kinds = (values: ReadonlyArray<Primitive>) =>
  (["string", "number", "boolean"] as const).map((kind) => values.filter((value) => typeof value === kind))

export class SchemaPrinter {
  readonly #names: Names
  readonly #direction: Direction

  constructor(names: Names, direction: Direction) {
    this.#names = names
    this.#direction = direction
  }

  #schema(branch: string): string {
    return `${this.#names.use("Schema")}.${branch}`
  }

  #helper(name: string, ...args: ReadonlyArray<string>): string {
    return `${this.#names.use(name)}(${args.filter((arg) => arg !== "").join(", ")})`
  }

  /** The schema of a shape. */
  print(shape: Shape): string {
    const target = this.#direction === "response" ? loosen(shape) : shape
    switch (target._tag) {
      case "Unknown":
      case "Never":
      case "Null":
      case "Boolean":
        return this.#schema(target._tag)
      case "File":
        return this.#schema("String")
      case "Ref":
        return this.#names.ref(target.name, this.#direction)
      case "Literal":
        return this.#literals(target)
      case "String":
        return this.#string(target)
      case "Number":
        return this.#number(target)
      case "Array": {
        const items = this.print(target.items)
        // The types of Effect know no list of nothing, which is an empty list.
        const max = target.items._tag === "Never" ? 0 : target.max
        const limits = options([["min", target.min], ["max", max], ["unique", target.unique ? "true" : undefined]])
        return limits === "" ? this.#schema(`Array(${items})`) : this.#helper("array", items, limits)
      }
      case "Tuple":
        return this.#tuple(target)
      case "Object":
        return this.#object(target)
      case "Union":
        return this.#union(target.branches, target.tags)
    }
  }

  #literals({ isTag, values }: LiteralShape): string {
    if (this.#direction === "request" || isTag === true) {
      return Spelling.literalOf(this.#names.use("Schema"), values.map(literal))
    }
    const [strings = [], numbers = [], booleans = []] = kinds(values)
    const schemas = [
      ...[strings, numbers].filter(({ length }) => length > 0).map((known) =>
        this.#helper("oneOf", ...known.map(literal))
      ),
      ...booleans.length > 0 ? [this.#schema("Boolean")] : []
    ]
    return schemas.length === 1 ? schemas.join("") : Spelling.unionOf(this.#names.use("Schema"), schemas)
  }

  #string(shape: StringShape): string {
    if (this.#direction === "response") {
      return shape.format === "date-time"
        ? this.#names.use("Timestamp")
        : this.#schema("String")
    }
    const { max, min, patterns: [pattern, ...patterns] } = shape
    const format = shape.format === undefined || !Object.hasOwn(formats, shape.format)
      ? undefined
      : formats[shape.format]
    const given = options([
      ["min", min],
      ["max", max],
      ["pattern", pattern === undefined ? undefined : quote(pattern)],
      ["format", format === undefined ? undefined : this.#names.use(format)]
    ])
    const schema = given === "" ? this.#schema("String") : this.#helper("string", given)
    return patterns.reduce(
      (schema, pattern) =>
        Spelling.bothOf(
          this.#names.use("Schema"),
          schema,
          this.#helper("string", options([["pattern", quote(pattern)]]))
        ),
      schema
    )
  }

  #number({ above, below, integer, max, min, multipleOf }: NumberShape): string {
    const limits = options([["min", min], ["max", max], ["above", above], ["below", below], ["multipleOf", multipleOf]])
    if (this.#direction === "response") return this.#schema("Number")
    if (integer) return this.#helper("integer", limits)
    return limits === "" ? this.#schema("Finite") : this.#helper("number", limits)
  }

  #tuple({ elements, required, rest }: TupleShape): string {
    const schemas = elements.map((element) => this.print(element))
    return Spelling.tupleOf(
      this.#names.use("Schema"),
      schemas.slice(0, required),
      schemas.slice(required),
      rest && this.print(rest)
    )
  }

  #object(shape: ObjectShape): string {
    const isRequest = this.#direction === "request"
    const fields = fieldsOf(shape, this.#direction)
    const { additional } = shape
    const rest = typeof additional !== "string"
      ? this.print(additional)
      : fields.length === 0 && (additional !== "closed" || !isRequest)
      ? this.#schema("Unknown")
      : fields.length === 0
      ? this.#schema("Never")
      : additional === "open" && isRequest
      ? this.#schema("Unknown")
      : undefined
    const s = this.#names.use("Schema")
    if (!isRequest && fields.length > 0 && additional === unknown) return this.#helper("open", this.fields(fields))
    const schema = fields.length === 0 && rest !== undefined
      ? Spelling.recordOf(s, rest)
      : Spelling.structOf(s, this.fields(fields), rest)
    const limits = isRequest ? options([["min", shape.min], ["max", shape.max]]) : ""
    return limits === "" ? schema : this.#helper("sized", schema, limits)
  }

  /** The fields of a struct or of a part of the request, on one line if they are short and without comments. */
  fields(fields: ReadonlyArray<PrintedField>): string {
    const texts = fields.map((field) => `${comment(field)}${key(field.name)}: ${this.#field(field)}`)
    const line = `{ ${texts.join(", ")} }`
    if (fields.length === 0) return "{}"
    return line.length <= 90 && !line.includes("\n") ? line : `{\n${texts.join(",\n")}\n}`
  }

  #field({ isFile = false, required, shape }: PrintedField): string {
    if (isFile) return required ? this.#names.use("File") : this.#schema(`optional(${this.#names.use("File")})`)
    if (required) return this.print(shape)
    if (this.#direction === "request") return this.#schema(`optional(${this.print(shape)})`)
    const target = loosen(shape)
    if (target._tag === "Array") return this.#helper("list", this.print(target.items))
    return this.#helper("omittable", target === unknown ? this.#names.use("nonNull") : this.print(target))
  }

  #union(branches: ReadonlyArray<Shape>, tags: ReadonlyArray<string> = []): string {
    const others = branches.filter(({ _tag }) => _tag !== "Null")
    const known = others.flatMap((branch) => isLiteralStrings(branch) && !branch.isTag ? branch.values : [])
    // A string beside literals is an open list of known values.
    const isOpen = others.some(isPlainString) && known.length > 0
    const literals = isOpen ? [this.#helper("oneOf", ...known.map(literal))] : []
    const rest = others.filter((branch) => !isOpen || (!isLiteralStrings(branch) && !isPlainString(branch)))
    const schemas = [...literals, ...rest.map((branch) => this.print(branch))]
    const schema = schemas.length === 1
      ? schemas.join("")
      : tags.length > 0 && this.#direction === "response"
      ? this.#helper("openUnion", `[${tags.map(quote).join(", ")}]`, ...schemas)
      : Spelling.unionOf(this.#names.use("Schema"), schemas)
    return others.length === branches.length ? schema : this.#schema(`NullOr(${schema})`)
  }
}

/** A field with what its text depends on. */
export interface PrintedField {
  readonly name: string
  readonly shape: Shape
  readonly required: boolean
  readonly deprecated?: boolean
  readonly description?: string | undefined
  readonly isFile?: boolean
}

const comment = ({ deprecated = false, description }: PrintedField): string =>
  docComment([...paragraphs(description), ...deprecated ? ["@deprecated"] : []])

const isSent = ({ readOnly, writeOnly }: Field, direction: Direction): boolean =>
  direction === "request" ? !readOnly : !writeOnly

/** The fields of an object that occur in one direction. Requests also have fields that are required and not described. */
export const fieldsOf = (shape: ObjectShape, direction: Direction): ReadonlyArray<PrintedField> => {
  const described = shape.fields.filter((field) => isSent(field, direction))
    .map((field) => ({ ...field, required: shape.required.includes(field.name) }))
  const names = shape.fields.map(({ name }) => name)
  const others = direction === "request" ? shape.required.filter((name) => !names.includes(name)) : []
  const other = typeof shape.additional === "string" ? unknown : shape.additional
  return [...described, ...others.map((name) => ({ name, shape: other, required: true }))]
}

/** A schema of a document as plain data, without the document's spelling of it. */

export type Primitive = string | number | boolean

export interface LiteralShape {
  readonly _tag: "Literal"
  readonly values: ReadonlyArray<Primitive>
  /** It tells the branches of a union apart, so that no other value is accepted even in responses. */
  readonly isTag?: true
}

export interface StringShape {
  readonly _tag: "String"
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly patterns: ReadonlyArray<string>
  readonly format?: string | undefined
}

export interface NumberShape {
  readonly _tag: "Number"
  readonly integer: boolean
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly above?: number | undefined
  readonly below?: number | undefined
  readonly multipleOf?: number | undefined
}

export interface ArrayShape {
  readonly _tag: "Array"
  readonly items: Shape
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly unique: boolean
}

export interface TupleShape {
  readonly _tag: "Tuple"
  readonly elements: ReadonlyArray<Shape>
  /** The number of elements that must be there. */
  readonly required: number
  /** The type of all further elements; absent if there are none. */
  readonly rest?: Shape | undefined
}

export interface Field {
  readonly name: string
  readonly shape: Shape
  readonly readOnly: boolean
  readonly writeOnly: boolean
  readonly deprecated: boolean
  readonly description?: string | undefined
}

export interface ObjectShape {
  readonly _tag: "Object"
  readonly fields: ReadonlyArray<Field>
  /** The names of required fields, which need not be among `fields`. */
  readonly required: ReadonlyArray<string>
  /** The type of all other fields. `unstated` if the document is silent. */
  readonly additional: "closed" | "unstated" | "open" | Shape
  readonly min?: number | undefined
  readonly max?: number | undefined
}

interface UnionShape {
  readonly _tag: "Union"
  readonly branches: ReadonlyArray<Shape>
  /** The fields that tell its objects apart. In responses an object with other values is one, too. */
  readonly tags?: readonly [string, ...ReadonlyArray<string>]
}

export type Shape =
  | { readonly _tag: "Unknown" | "Never" | "Null" | "Boolean" | "File" }
  | LiteralShape
  | StringShape
  | NumberShape
  | ArrayShape
  | TupleShape
  | ObjectShape
  | UnionShape
  /** A schema of `components`. */
  | { readonly _tag: "Ref"; readonly name: string }

export const unknown: Shape = { _tag: "Unknown" }
export const never: Shape = { _tag: "Never" }
export const nil: Shape = { _tag: "Null" }
export const boolean: Shape = { _tag: "Boolean" }
export const anyString: StringShape = { _tag: "String", patterns: [] }
export const ref = (name: string): Shape => ({ _tag: "Ref", name })

/** Tells whether a shape accepts every string. */
export const isPlainString = (shape: Shape): boolean =>
  shape._tag === "String" && shape.min === undefined && shape.max === undefined && shape.patterns.length === 0 &&
  shape.format === undefined

/** Tells whether a plain string includes all values of a shape, because they are strings of a list. */
export const isLiteralStrings = (shape: Shape): shape is LiteralShape =>
  shape._tag === "Literal" && shape.values.every((value) => typeof value === "string")

/** Compares shapes by their content. */
export const equals = (a: Shape, b: Shape): boolean => JSON.stringify(a) === JSON.stringify(b)

/** A union without branches of branches, repetitions and branches that another one contains. */
export const union = (shapes: ReadonlyArray<Shape>): Shape => {
  const branches: Array<Shape> = []
  for (const shape of shapes.flatMap((shape) => shape._tag === "Union" ? shape.branches : [shape])) {
    if (shape._tag === "Never" || branches.some((branch) => equals(branch, shape))) continue
    branches.push(shape)
  }
  if (branches.some(({ _tag }) => _tag === "Unknown")) return unknown
  const anyStrings = branches.some(isPlainString)
  const kept = branches.filter((branch) => !anyStrings || branch._tag !== "String" || isPlainString(branch))
  const [first, ...others] = kept
  return first === undefined ? never : others.length === 0 ? first : { _tag: "Union", branches: kept }
}

/** Makes a schema accept null. */
export const nullable = (shape: Shape): Shape => union([shape, nil])

/** The parts of a schema that other schemas are in. */
export const children = (shape: Shape): ReadonlyArray<Shape> => {
  switch (shape._tag) {
    case "Array":
      return [shape.items]
    case "Tuple":
      return shape.rest === undefined ? shape.elements : [...shape.elements, shape.rest]
    case "Object":
      return [
        ...shape.fields.map(({ shape }) => shape),
        ...(typeof shape.additional === "string" ? [] : [shape.additional])
      ]
    case "Union":
      return shape.branches
    default:
      return []
  }
}

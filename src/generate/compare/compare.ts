/** Compares two interfaces: which operations and fields came or went, and which values are accepted or returned now. */
import { children, equals, type ObjectShape, type Shape, type TupleShape } from "../model/shape.js"
import type { InputField, Interface, OperationFacts } from "./interface.js"

/** `narrowed`: fewer values are possible than before; `widened`: more are; `changed`: others are. */
export interface Change {
  readonly kind: "added" | "removed" | "narrowed" | "widened" | "changed"
  /** The operation or the schema, and the field within it, for example `updateUser input.name`. */
  readonly path: string
  readonly detail: string
}

const change = (kind: Change["kind"], path: string, detail: string): ReadonlyArray<Change> => [{ kind, path, detail }]

/** Compares lists of names: those that only one of them has. */
const compareSets = <A>(
  path: string,
  label: string,
  before: ReadonlyArray<A>,
  after: ReadonlyArray<A>,
  kinds: readonly [lost: Change["kind"], gained: Change["kind"]]
): ReadonlyArray<Change> => {
  const lost = before.filter((each) => !after.includes(each))
  const gained = after.filter((each) => !before.includes(each))
  return [
    ...lost.length === 0 ? [] : change(kinds[0], path, `${label} without ${lost.join(", ")}`),
    ...gained.length === 0 ? [] : change(kinds[1], path, `${label} with ${gained.join(", ")}`)
  ]
}

/** Limits of a shape, and whether they are lower ones: a lower limit that rises narrows, an upper one that rises widens. */
const limits = { min: true, above: true, max: false, below: false }

const compareLimits = (path: string, before: Shape, after: Shape): ReadonlyArray<Change> =>
  Object.entries(limits).flatMap(([name, isLower]) => {
    const [old, now] = [before, after].map((shape) => (shape as { readonly [name: string]: unknown })[name]) // sound: read only
    if (old === now) return []
    const isNarrower = typeof now === "number" && (typeof old !== "number" || (now > old) === isLower)
    return change(isNarrower ? "narrowed" : "widened", path, `${name} ${old ?? "none"} → ${now ?? "none"}`)
  })

/** Compares checks: a present one accepts less than an absent one. */
const compareChecks = (path: string, label: string, before: string, after: string): ReadonlyArray<Change> =>
  before === after
    ? []
    : change(
      before === "" ? "narrowed" : after === "" ? "widened" : "changed",
      path,
      `${label} ${before || "none"} → ${after || "none"}`
    )

const branchesOf = (shape: Shape): ReadonlyArray<Shape> => shape._tag === "Union" ? shape.branches : [shape]

const nameOf = (shape: Shape): string => {
  switch (shape._tag) {
    case "Ref":
      return shape.name
    case "Literal":
      return shape.values.map((value) => JSON.stringify(value)).join(" | ")
    case "Number":
      return shape.integer ? "integer" : "number"
    case "Array":
      return `list of ${nameOf(shape.items)}`
    case "Union":
      return shape.branches.map(nameOf).join(" or ")
    default:
      return shape._tag.toLowerCase()
  }
}

/** Tells that every value of the first is one of the second, as far as their kinds say. */
const isWithin = (a: Shape, b: Shape): boolean =>
  b._tag === "Unknown" || a._tag === "Never" ||
  (a._tag === "Literal" && b._tag === "String" && a.values.every((value) => typeof value === "string")) ||
  (a._tag === "Literal" && b._tag === "Number" && a.values.every((value) => typeof value === "number"))

const compareShapes = (path: string, before: Shape, after: Shape): ReadonlyArray<Change> => {
  if (equals(before, after)) return []
  if (before._tag === "Union" || after._tag === "Union") {
    const [old, now] = [branchesOf(before), branchesOf(after)]
    const lost = old.filter((branch) => !now.some((other) => equals(branch, other)))
    const gained = now.filter((branch) => !old.some((other) => equals(branch, other)))
    const [[a], [b]] = [lost, gained]
    if (lost.length === 1 && gained.length === 1 && a !== undefined && b !== undefined) return compareShapes(path, a, b)
    return [
      ...lost.length === 0 ? [] : change("narrowed", path, `no longer ${lost.map(nameOf).join(", ")}`),
      ...gained.length === 0 ? [] : change("widened", path, `also ${gained.map(nameOf).join(", ")}`)
    ]
  }
  if (before._tag === "Literal" && after._tag === "Literal") {
    return compareSets(path, "values", before.values, after.values, ["narrowed", "widened"])
  }
  if (before._tag !== after._tag || before._tag === "Ref") {
    const kind = isWithin(after, before) ? "narrowed" : isWithin(before, after) ? "widened" : "changed"
    return change(kind, path, `${nameOf(before)} → ${nameOf(after)}`)
  }
  return [...compareLimits(path, before, after), ...compareParts(path, before, after)]
}

/** Compares the parts that shapes of one kind have beside limits. */
const compareParts = (path: string, before: Shape, after: Shape): ReadonlyArray<Change> => {
  if (before._tag === "String" && after._tag === "String") {
    return [
      ...compareChecks(path, "pattern", before.patterns.join(" "), after.patterns.join(" ")),
      ...compareChecks(path, "format", before.format ?? "", after.format ?? "")
    ]
  }
  if (before._tag === "Number" && after._tag === "Number") {
    return [
      ...before.integer === after.integer
        ? []
        : change(after.integer ? "narrowed" : "widened", path, `${nameOf(before)} → ${nameOf(after)}`),
      ...compareChecks(path, "multipleOf", String(before.multipleOf ?? ""), String(after.multipleOf ?? ""))
    ]
  }
  if (before._tag === "Array" && after._tag === "Array") {
    return [
      ...before.unique === after.unique
        ? []
        : change(after.unique ? "narrowed" : "widened", path, after.unique ? "without repetition" : "with repetition"),
      ...compareShapes(`${path}[]`, before.items, after.items)
    ]
  }
  if (before._tag === "Object" && after._tag === "Object") return compareObjects(path, before, after)
  if (before._tag === "Tuple" && after._tag === "Tuple") return compareTuples(path, before, after)
  return []
}

const sizeOf = ({ elements, required, rest }: TupleShape): string => {
  const most = rest === undefined ? elements.length : "any number of"
  return required === most ? `${most} elements` : `${required} to ${most} elements`
}

const compareTuples = (path: string, before: TupleShape, after: TupleShape): ReadonlyArray<Change> => [
  ...sizeOf(before) === sizeOf(after) ? [] : change("changed", path, `${sizeOf(before)} → ${sizeOf(after)}`),
  ...children(before).flatMap((child, index) => {
    const other = children(after)[index]
    return other === undefined ? [] : compareShapes(`${path}[${index}]`, child, other)
  })
]

const openness = (shape: ObjectShape): Shape => {
  const { additional, fields } = shape
  if (typeof additional !== "string") return additional
  const isOpen = additional === "open" || (additional === "unstated" && fields.length === 0)
  return { _tag: isOpen ? "Unknown" : "Never" }
}

const compareObjects = (path: string, before: ObjectShape, after: ObjectShape): ReadonlyArray<Change> => {
  const names = [...new Set([...before.fields, ...after.fields].map(({ name }) => name))]
  const fields = names.flatMap((name) => {
    const [old, now] = [before, after].map((shape) => shape.fields.find((field) => field.name === name))
    const [was, is] = [before.required.includes(name), after.required.includes(name)]
    return compareField(`${path}.${name}`, old && { ...old, required: was }, now && { ...now, required: is })
  })
  return [...fields, ...compareShapes(`${path}.*`, openness(before), openness(after))]
}

interface Comparable {
  readonly shape: Shape
  readonly required: boolean
}

const compareField = (
  path: string,
  before: Comparable | undefined,
  after: Comparable | undefined
): ReadonlyArray<Change> => {
  const describe = ({ required, shape }: Comparable) => `${required ? "required" : "optional"} ${nameOf(shape)}`
  if (before === undefined) return after === undefined ? [] : change("added", path, describe(after))
  if (after === undefined) return change("removed", path, describe(before))
  return [
    ...before.required === after.required
      ? []
      : change(after.required ? "narrowed" : "widened", path, after.required ? "is required" : "is optional"),
    ...compareShapes(path, before.shape, after.shape)
  ]
}

const compareOperations = (name: string, before: OperationFacts, after: OperationFacts): ReadonlyArray<Change> => {
  const names = [...new Set([...Object.keys(before.input), ...Object.keys(after.input)])].sort()
  const find = (facts: OperationFacts, field: string): InputField | undefined =>
    Object.hasOwn(facts.input, field) ? facts.input[field] : undefined
  const fact = (label: string, old: unknown, now: unknown) =>
    JSON.stringify(old) === JSON.stringify(now)
      ? []
      : change("changed", name, `${label} ${JSON.stringify(old)} → ${JSON.stringify(now)}`)
  const success = ({ success }: OperationFacts): Comparable | undefined =>
    success === null ? undefined : { shape: success.shape, required: !success.isOptional }
  return [
    ...fact("route", `${before.method} ${before.path}`, `${after.method} ${after.path}`),
    ...names.flatMap((field) => compareField(`${name} input.${field}`, find(before, field), find(after, field))),
    ...names.flatMap((field) => {
      const [old, now] = [find(before, field), find(after, field)]
      return old === undefined || now === undefined ? [] : fact(`place of ${field}`, old.in, now.in)
    }),
    ...compareField(`${name} success`, success(before), success(after)),
    ...fact("stream", before.success?.isStream ?? false, after.success?.isStream ?? false),
    ...compareSets(name, "failures", before.statuses, after.statuses, ["narrowed", "widened"]),
    ...compareSets(name, "scopes", before.scopes, after.scopes, ["narrowed", "widened"]),
    ...fact("idempotent", before.idempotent, after.idempotent),
    ...fact("paging", before.paging, after.paging)
  ]
}

const compareNamed = <A>(
  before: { readonly [name: string]: A },
  after: { readonly [name: string]: A },
  prefix: string,
  compare: (name: string, before: A, after: A) => ReadonlyArray<Change>
): ReadonlyArray<Change> =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((name) => {
    const [old, now] = [before, after].map((named) => Object.hasOwn(named, name) ? named[name] : undefined)
    if (old === undefined) return change("added", `${prefix}${name}`, "")
    return now === undefined ? change("removed", `${prefix}${name}`, "") : compare(name, old, now)
  })

/** Lists the changes from one interface to another. */
export const compare = (before: Interface, after: Interface): ReadonlyArray<Change> => [
  ...compareNamed(before.operations, after.operations, "", compareOperations),
  ...compareNamed(before.schemas, after.schemas, "", (name, old, now) => compareShapes(name, old, now))
]

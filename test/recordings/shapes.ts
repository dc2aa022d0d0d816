/** The shapes of JSON values, and how those of one source differ from those of another. */
import { isObject, type Json, type JsonObject } from "../generate/harness/document.js"

interface Field {
  readonly types: ReadonlySet<string>
  /** The object that has it. */
  readonly parent: string
  readonly count: number
}

interface Shape {
  /** The fields and the items of lists by their paths, such as `versions[].action.id`. */
  readonly fields: ReadonlyMap<string, Field>
  /** How many objects there are, by their paths. */
  readonly objects: ReadonlyMap<string, number>
}

/** Values that tell objects of different shapes apart. The path of such an object names the value: `destination<webhook>`. */
const variants = new Set<Json | undefined>([
  "webhook",
  "eventbridge",
  "action",
  "bearer",
  "basic",
  "custom_header",
  "users_export",
  "users_import",
  "retrying"
])

const isEmptyList = (value: Json): boolean => Array.isArray(value) && value.length === 0

/** Objects of different shapes: by a value of theirs, deployed actions, and pages by number without items. */
const variantOf = (object: JsonObject): string => {
  const value = [object["type"], object["method"], object["status"]].find((value) => variants.has(value))
  if (value !== undefined) return `<${value}>`
  if ("deployed_version" in object) return "<deployed>"
  return "per_page" in object && Object.values(object).some(isEmptyList) ? "<empty>" : ""
}

const typeOf = (value: Json): string => {
  if (Array.isArray(value)) return "a list"
  if (value === null) return "null"
  if (typeof value === "object") return "an object"
  if (typeof value !== "string") return `a ${typeof value}`
  const [time, digits = ""] = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?Z$/.exec(value) ?? []
  return time === undefined ? "text" : `a time with ${digits.length} digits`
}

/** The shape of values. What is inside the places `opaque` does not count. */
const shapeOf = (values: ReadonlyArray<Json>, opaque: ReadonlyArray<string>): Shape => {
  const fields = new Map<string, { types: Set<string>; parent: string; count: number }>()
  const objects = new Map<string, number>()
  const visit = (value: Json, path: string, parent: string) => {
    const { count, types } = fields.get(path) ?? { types: new Set(), count: 0 }
    fields.set(path, { types: types.add(typeOf(value)), parent, count: count + 1 })
    if (opaque.includes(path)) return
    if (Array.isArray(value)) { for (const item of value) visit(item, `${path}[]`, parent) }
    if (!isObject(value)) return
    const place = `${path}${variantOf(value)}`
    objects.set(place, (objects.get(place) ?? 0) + 1)
    for (const [name, field] of Object.entries(value)) visit(field, place === "" ? name : `${place}.${name}`, place)
  }
  for (const value of values) visit(value, "", "")
  return { fields, objects }
}

/** Each object that could have it has it. */
const isAlways = ({ objects }: Shape, field: Field | undefined): boolean =>
  field !== undefined && field.count === objects.get(field.parent)

/** The paths that are not within another one. */
const outermost = (paths: ReadonlyArray<string>) =>
  paths.filter((path) => !paths.some((outer) => /^[.[<]/.test(path.startsWith(outer) ? path.slice(outer.length) : "")))

/**
 * How values that are sent differ from recorded ones: fields that none of those has, fields that all of those have and some of these
 * lack, and other types. Of fields within fields, the outermost.
 */
export const differences = (
  sent: ReadonlyArray<Json>,
  recorded: ReadonlyArray<Json>,
  opaque: ReadonlyArray<string> = []
): ReadonlyArray<string> => {
  const [ours, theirs] = [shapeOf(sent, opaque), shapeOf(recorded, opaque)]
  const added = [...ours.fields.keys()].filter((path) => !theirs.fields.has(path))
  const missing = [...theirs.fields].flatMap(([path, field]) =>
    path !== "" && !path.endsWith("[]") && ours.objects.has(field.parent) && isAlways(theirs, field) &&
      !isAlways(ours, ours.fields.get(path))
      ? [path]
      : []
  )
  return [
    ...outermost(added).map((path) => `sends ${path}`),
    ...outermost(missing).map((path) => `lacks ${path}`),
    ...[...ours.fields].flatMap(([path, { types }]) => {
      const known = theirs.fields.get(path)?.types
      return [...types].filter((type) => known?.has(type) === false)
        .map((type) => `sends ${path} as ${type}, not as ${[...known ?? []].join(" or ")}`)
    })
  ]
}

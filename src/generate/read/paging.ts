/** Recognizes lists that come in pages. */
import type { Paging, Parameter, Success } from "../model/operation.js"
import type { Shape } from "../model/shape.js"
import { at } from "../model/specError.js"
import type { SchemaReader } from "./schemaReader.js"

/** The forms of a success. */
const formsOf = (shape: Shape, reader: SchemaReader): ReadonlyArray<Shape> => {
  const target = reader.dereference(shape)
  return target._tag === "Union" ? target.branches.flatMap((branch) => formsOf(branch, reader)) : [target]
}

/** The fields that hold a list. */
const listsOf = (shape: Shape, reader: SchemaReader): ReadonlyArray<string> =>
  shape._tag === "Object"
    ? shape.fields.filter((field) => reader.dereference(field.shape)._tag === "Array").map(({ name }) => name)
    : []

/** Tells whether a form has the checkpoint of the next page. */
const hasNext = (shape: Shape): boolean => shape._tag === "Object" && shape.fields.some(({ name }) => name === "next")

const letters = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, "")

/**
 * An operation has pages if its query has `page`, or `from` and `take`, and each form of its success is a list or an object with
 * one list, the same in all. If it has both, and no form has the `next` checkpoint, `from` is an item, as in logs: what is newer follows. Of several lists it is the one with the name of the path's last part.
 */
export const readPaging = (
  reader: SchemaReader,
  path: string,
  query: ReadonlyArray<Parameter>,
  success: Success | undefined
): Paging | undefined => {
  const has = (name: string) => query.some((parameter) => parameter.name === name)
  const [byNumber, byCheckpoint] = [has("page"), has("from") && has("take")]
  if (success === undefined || success.isStream || (!byNumber && !byCheckpoint)) return undefined
  const forms = formsOf(success.shape, reader)
  const kind = !byCheckpoint ? "number" : !byNumber ? "checkpoint" : forms.some(hasNext) ? "both" : "newer"
  const objects = forms.filter(({ _tag }) => _tag !== "Array")
  const common = objects.map((form) => listsOf(form, reader))
    .reduce<ReadonlyArray<string> | undefined>(
      (a, b) => a === undefined ? b : a.filter((name) => b.includes(name)),
      undefined
    )
  if (common === undefined) return { kind, items: undefined }
  const last = letters(path.split("/").findLast((segment) => !segment.startsWith("{")) ?? "")
  const items = common.length === 1 ? common[0] : common.find((name) => letters(name) === last)
  if (items === undefined) {
    reader.note(at("#/paths", path), "no field is certainly the list of a page, so Pagination cannot stream it")
    return undefined
  }
  return { kind, items }
}

/** Finds columns of a CSV that have one title. */
import type { Issue } from "../../Errors.js"

interface Field {
  readonly name: string
  readonly export_as?: string | undefined
}

/** The title of a field's column, without the guard that `Exports.run` may remove. */
const titleOf = ({ export_as, name }: Field): string => (export_as ?? name).replace(/^'/, "")

/** Finds columns of one title in a CSV, of which most readers would keep one. The place to change is a title, if one of them has that. */
export const repeatedTitles = (
  { fields = [], format }: { readonly fields?: ReadonlyArray<Field> | undefined; readonly format?: string | undefined }
): ReadonlyArray<Issue> => {
  const seen = new Map<string, number>()
  return format !== "csv" ? [] : fields.flatMap((field, nth) => {
    const title = titleOf(field)
    const first = seen.get(title)
    seen.set(title, first ?? nth)
    if (first === undefined) return []
    const isEarlier = field.export_as === undefined && fields[first]?.export_as !== undefined
    const [place, other] = isEarlier ? [first, nth] : [nth, first]
    const path = `fields[${place}].${fields[place]?.export_as === undefined ? "name" : "export_as"}`
    return [{ path, message: `expected a title that differs from that of \`fields[${other}]\`` }]
  })
}

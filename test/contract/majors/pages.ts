/** Pages in the forms that the service gives them. */

/** The fields of a request that select a page. */
export interface Selection {
  readonly page?: number
  readonly per_page?: number
  readonly include_totals?: boolean
  readonly from?: string
  readonly take?: number
}

/** The page of a list that a request selects: by checkpoint, by number, or by number without totals, a bare list. */
export const pageOf = (
  name: string,
  all: ReadonlyArray<object>,
  { from = "0", include_totals, page = 0, per_page = 50, take }: Selection
) => {
  if (take !== undefined) {
    const end = Number(from) + take
    return { [name]: all.slice(Number(from), end), ...(end < all.length && { next: String(end) }) }
  }
  const start = page * per_page
  const shown = all.slice(start, start + per_page)
  // Modules of actions have no `include_totals`: they always come with their total, and with other names.
  if (name === "modules") return { modules: shown, total: all.length, page, per_page }
  return include_totals === true ? { start, limit: per_page, total: all.length, [name]: shown } : shown
}

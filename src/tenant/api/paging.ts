/** Cuts lists into pages. */
import type { PlainResponse } from "../server/response.js"
import { invalidQuery } from "./operationHandler.js"

/** The size of a page by checkpoints, unless the call sets one. */
export const defaultTake = 50

/** The size of the largest page by number. */
export const maxPerPage = 100

interface Checkpoint {
  readonly from?: string | undefined
  readonly take?: number | undefined
}

/** A page of items in the order of their ids, so that a checkpoint stays valid when its item is deleted. */
export const keysetPage = <Item extends { readonly id: string }>(
  items: ReadonlyArray<Item>,
  { from = "", take = defaultTake }: Checkpoint
): { readonly page: ReadonlyArray<Item>; readonly next: string | undefined } => {
  const left = items.filter(({ id }) => id > from).sort((one, other) => one.id < other.id ? -1 : 1)
  const page = left.slice(0, take)
  return { page, next: left.length > take ? page.at(-1)?.id : undefined }
}

/** A page by number, with the fields that describe it, without those that are 0; or the 400 for a size that is too large. */
export const numberedPage = <Item>(
  items: ReadonlyArray<Item>,
  { page = 0, per_page = 20 }: { readonly page?: number | undefined; readonly per_page?: number | undefined }
): { readonly page: ReadonlyArray<Item>; readonly fields: object } | PlainResponse =>
  per_page > maxPerPage ? invalidQuery("per_page", `Must be at most ${maxPerPage}`) : {
    page: items.slice(page * per_page, (page + 1) * per_page),
    fields: { ...(items.length > 0 && { total: items.length }), ...(page > 0 && { page }), per_page }
  }

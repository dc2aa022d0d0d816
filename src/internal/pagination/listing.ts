/** A listing in pages: what it asks for, and what it does with each page. */
import * as Predicate from "effect/Predicate"

/** The fields of a paged operation's input. */
export interface PagingInput {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  readonly from?: string | undefined
  readonly take?: number | undefined
}

/** A page's new items, by their indexes, and the input of the next request, if any; or the reason why the listing would never end. */
type NextPage<Input> =
  | { readonly _tag: "Items"; readonly newIndexes: ReadonlyArray<number>; readonly next: Input | undefined }
  | { readonly _tag: "Endless"; readonly reason: string }

/** One listing, by page number or by checkpoint. */
export interface Pages<Input> {
  readonly first: Input
  /** The number of the first page. */
  readonly start: number
  /** Adds the next page: its items and the whole success. */
  readonly add: (items: ReadonlyArray<unknown>, success: unknown) => NextPage<Input>
}

/** A field of a value that need not be an object. */
export const field = (value: unknown, name: string): unknown => Predicate.isRecord(value) ? value[name] : undefined

/** The identifier of an item; log events have it in `log_id`. */
export const idOf = (item: unknown): unknown => field(item, "id") ?? field(item, "log_id") ?? undefined

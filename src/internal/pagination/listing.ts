/** A listing in pages: what it asks for, and what it does with each page. */
import * as Predicate from "effect/Predicate"

/** The fields of a paged operation's input. */
export interface PagingInput {
  readonly page?: number | undefined
  readonly per_page?: number | undefined
  readonly from?: string | undefined
  readonly take?: number | undefined
}

/** The new items of a page, by their indexes. `mayBeCut`: the list ends where the service cuts lists, and nothing says if it has more. */
export interface Listed {
  readonly _tag: "Items"
  readonly newIndexes: ReadonlyArray<number>
  readonly mayBeCut?: true
}

/** The reason why a listing would never end, or why its end is not that of the list. */
export interface Broken {
  readonly _tag: "Endless" | "Incomplete"
  readonly reason: string
}

/** A page's new items, and the input of the next request, if any. */
type NextPage<Input> = Listed & { readonly next: Input | undefined } | Broken

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

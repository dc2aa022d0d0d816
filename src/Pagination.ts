/** Streams the items of paged operations, page by page through the client. */
import * as Chunk from "effect/Chunk"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Any, Endpoint } from "./Endpoint.js"
import { type ClientError, InvalidInput, UnexpectedResponse } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import { currentSettings } from "./internal/call/settings.js"
import { makeRedactor } from "./internal/http/errorBody.js"
import * as Request from "./internal/http/requestEncoder.js"
import type { Broken } from "./internal/pagination/listing.js"
import * as Pages from "./internal/pagination/pages.js"
import { type PagedEndpoint, withoutItemChecks } from "./internal/pagination/pageSchema.js"
import { settingOf, withFiber, withoutFailureLogs } from "./internal/runtime/fiber.js"
import { OperationError } from "./internal/runtime/operationError.js"
import { after, andThen, dropping, emit, type Emitter, fromEmitter } from "./internal/runtime/streams/emitter.js"
import * as EventLoop from "./internal/runtime/streams/yieldToEventLoop.js"
import { mismatch } from "./internal/schema/issues.js"
import type { Paged } from "./Operation.js"

/** The part of a paged operation's input that selects the page. @since 0.1.0 @category models */
export interface Paging {
  /** The page to start with, counted from 0 (default 0). */
  readonly page?: number | undefined
  /** The number of items on a page; without it the service chooses. */
  readonly per_page?: number | undefined
  /** The checkpoint to start with (default: the beginning). */
  readonly from?: string | undefined
  /** The number of items between two checkpoints (default 50). */
  readonly take?: number | undefined
}

/**
 * The type of the items of a paged operation's success: those in its field `Items`, or of the success itself if it is a list.
 * @since 0.1.0 @category models
 */
export type Item<Success, Items extends string> = Success extends ReadonlyArray<infer Item> ? Item
  : Success extends { readonly [Name in Items]?: infer List }
    ? NonNullable<List> extends ReadonlyArray<infer Item> ? Item : never
  : never

/**
 * An item that does not match the operation's schema. `streamEither` emits it in the item's place.
 * @since 0.1.0 @category errors
 */
export class UndecodableItem extends OperationError("UndecodableItem")<{
  /** The name of the operation, for example `listActionVersions`. */
  readonly operation: string
  readonly message: string
  /** The page that holds the item, counted from 0; by checkpoint, from where the stream began. */
  readonly page: number
  /** The path of the first invalid field within the page, for example `versions[3].number`. `…` replaces strings of the input. */
  readonly path: string
  /** The item as received. It may hold personal data, so it prints as `<redacted>`. */
  readonly raw: Redacted.Redacted<unknown>
}> {}

/**
 * Streams the items of a paged operation, each once and in the service's order, from page `input.page` (default 0) to the
 * last. All other fields of `input` apply to every page; without `per_page` the service chooses the page size. If the query has
 * `include_totals`, the stream sets it, unless the caller does.
 *
 * Lists that go on by checkpoint (`paging: "checkpoint"` in the declaration) are streamed from `input.from` on, `take` items at
 * a time (default 50), to the page that has no `next` or no items; a short page may have a `next`. Where a service has both, the
 * stream goes by checkpoint unless the input has `page` or `per_page`. A log (`paging: "newer"`), whose checkpoint finds what is newer
 * than an item, is streamed by number, the newest items first, unless the input has `from`.
 *
 * A page is emitted as two chunks: its first item, then the rest. Pulling the rest starts the request for the next page, so
 * that it loads while the rest is processed; `Stream.take(1)` costs one request. At most two pages are held in memory.
 *
 * Where pages are numbered, items created meanwhile push others to later pages: the stream recognizes those by their `id`, as far
 * back as two pages, and emits them once. Items that deletions move to an earlier page are missed.
 *
 * A page with fewer items than the first one is the last, unless its `total` says that there are more. A service whose pages may be
 * short before the end has to send a `total`.
 *
 * Fails like the operation, after the items of all earlier pages; with `InvalidInput` if `per_page` or `take` is 0, or if the
 * pages could not mean what is asked, such as a checkpoint with a page number, or one of a log with a search; and with
 * `UnexpectedResponse` of reason `endless` if a page has no new items, if there are more than twice as many pages as the `total`
 * allows (contract: Endpoints 3), or if a checkpoint comes twice. Fails with the reason `incomplete` if a page is empty before the items
 * that its `total` says: Auth0 returns no more than 1,000 items of some lists by page number. Without a `total`, a list that ends at 1,000
 * logs a warning.
 * @since 0.1.0 @category streams @example `Pagination.stream(listActionVersions, { actionId }).pipe(Stream.take(10))`
 */
export const stream = <Input extends Paging, Success, Failure, Items extends string>(
  operation: Paged<Input, Success, Failure, Items>,
  input: Input
): Stream.Stream<Item<Success, Items>, Failure | ClientError, IdentityClient> =>
  // Sound: the field `Items` of a success is a list of `Item`s.
  streamPages(operation.endpoint, input, (item) => item as Item<Success, Items>)

/**
 * Streams like `stream`, but an item that does not match the schema does not fail its page: an `UndecodableItem` takes its
 * place, as a `Left`. The rest of the page is validated as usual.
 * @since 0.1.0 @category streams
 */
export const streamEither = <Input extends Paging, Success, Failure, Items extends string>(
  operation: Paged<Input, Success, Failure, Items>,
  input: Input
): Stream.Stream<Either.Either<Item<Success, Items>, UndecodableItem>, Failure | ClientError, IdentityClient> => {
  const { decodeItem, endpoint } = withoutItemChecks(operation.endpoint)
  const { items, name } = operation.endpoint
  return Stream.unwrap(withFiber((fiber) => {
    const { fields: extra, headers } = settingOf(fiber, currentSettings)
    const fields = input as Readonly<Record<string, unknown>> // sound: inputs are structs
    const { code } = makeRedactor(unknownToken, () => Request.strings({ extra, fields, headers }))
    const decode = (item: unknown, index: number, page: number) =>
      Either.mapLeft(decodeItem(item), (issue) => {
        const path = code(`${items ?? ""}[${index}]${issue.path === "" ? "" : `.${issue.path}`}`)
        const message = mismatch({ path, message: issue.message })
        return new UndecodableItem({ operation: name, message, page, path, raw: Redacted.make(item) })
      }) as Either.Either<Item<Success, Items>, UndecodableItem> // sound: the decoder has just validated it
    // Sound: the derived endpoint has the operation's own input and failures.
    return Effect.succeed(streamPages(endpoint as Endpoint<Input, unknown, Failure> & PagedEndpoint, input, decode))
  }))
}

/**
 * Streams whole pages: what the operation returns for each, with its `total`. It asks for pages, and fails, as `stream` does, but loads the next
 * page when it is pulled, and an item that moves to a later page meanwhile is on both.
 * @since 0.1.0 @category streams
 * @example `Pagination.pages(listActionVersions, { actionId }).pipe(Stream.map(({ total }) => total), Stream.runHead)`
 */
export const pages = <Input extends Paging, Success, Failure, Items extends string>(
  { endpoint }: Paged<Input, Success, Failure, Items>,
  input: Input
): Stream.Stream<Success, Failure | ClientError, IdentityClient> =>
  checked(
    endpoint,
    input,
    Stream.suspend(() => {
      const listing = Pages.of(endpoint, input)
      return Stream.paginateChunkEffect(listing.first, (input) =>
        Effect.flatMap(
          Effect.flatMap(IdentityClient, (client) => client.execute(endpoint, input)),
          (success) => {
            const added = listing.add(itemsOf(endpoint, success), success)
            if (added._tag !== "Items") return broken(endpoint, added)
            const page = [Chunk.of(success), Option.fromNullable(added.next)] as const
            return added.mayBeCut ? Effect.as(warnOfCut(endpoint), page) : Effect.succeed(page)
          }
        ))
    })
  )

/** Fails if the pages of an input could not mean what is asked. */
const checked = <A, E, R>(
  endpoint: Any & PagedEndpoint,
  input: Paging,
  stream: Stream.Stream<A, E, R>
): Stream.Stream<A, E | InvalidInput, R> =>
  Stream.unwrap(withFiber((fiber) => {
    const issues = Pages.issuesOf(endpoint, input, settingOf(fiber, currentSettings).fields?.query)
    return issues.length > 0
      ? Effect.fail(new InvalidInput({ operation: endpoint.name, issues }))
      : Effect.succeed(stream)
  }))

/** Only the client knows the token. JSON Web Tokens are recognized without it. */
const unknownToken = /* @__PURE__ */ Redacted.make("")

/** The new items of a page, and the input of the next request. */
interface LoadedPage<Input, A> {
  readonly items: ReadonlyArray<A>
  readonly next: Input | undefined
}

const streamPages = <Input extends Paging, Success, Failure, A>(
  endpoint: Endpoint<Input, Success, Failure> & PagedEndpoint,
  input: Input,
  decode: (item: unknown, index: number, page: number) => A
): Stream.Stream<A, Failure | ClientError, IdentityClient> => {
  type Emitted = Emitter<A, Failure | ClientError>

  const empty: LoadedPage<Input, A> = { items: [], next: undefined }

  const run = (client: Context.Tag.Service<IdentityClient>, scope: Scope.Scope): Emitted => {
    const pages = Pages.of(endpoint, input)

    const load = (input: Input, page: number): Effect.Effect<LoadedPage<Input, A>, Failure | ClientError> =>
      Effect.flatMap(
        Effect.suspend(() => client.execute(endpoint, input)),
        (success) => {
          const items = itemsOf(endpoint, success)
          const added = pages.add(items, success)
          if (added._tag !== "Items") return broken(endpoint, added)
          const loaded = {
            items: added.newIndexes.map((index) => decode(items[index], index, page)),
            next: added.next
          }
          return added.mayBeCut ? Effect.as(warnOfCut(endpoint), loaded) : Effect.succeed(loaded)
        }
      )

    // Only these two variables hold pages: fibers and closures, which may live longer, read them and hold none.
    let current = empty
    let next = empty

    const loadNext = (input: Input, page: number) => Effect.map(load(input, page), (loaded) => void (next = loaded))

    const itemsFrom = (from: number, to?: number): Emitted => emit(current.items.slice(from, to))

    const emitFirst = (page: number, loaded: Effect.Effect<void, Failure | ClientError>): Emitted =>
      after(loaded, () => {
        current = next
        next = empty
        return andThen(itemsFrom(0, 1), () => emitRest(page))
      })

    const emitRest = (page: number): Emitted =>
      current.next === undefined
        ? itemsFrom(1)
        : after(
          // The request for the next page has to leave before the consumer gets the rest, and perhaps never yields. It is
          // interruptible even where the stream is not: the scope ends it if nobody wants the page.
          Effect.zipLeft(
            withoutFailureLogs(Effect.forkIn(Effect.interruptible(loadNext(current.next, page + 1)), scope)),
            EventLoop.yieldToEventLoop
          ),
          (fiber) => {
            const rest = itemsFrom(1)
            current = empty
            return andThen(dropping(rest), () => emitFirst(page + 1, Effect.flatten(Fiber.await(fiber))))
          }
        )

    return emitFirst(pages.start, loadNext(pages.first, pages.start))
  }

  return checked(endpoint, input, fromEmitter(IdentityClient, run))
}

/** The items of a page; none if the list is optional and absent. */
const itemsOf = ({ items = "" }: PagedEndpoint, success: unknown): ReadonlyArray<unknown> => {
  const list = Predicate.isRecord(success) ? success[items] : success
  return Array.isArray(list) ? list : []
}

const warnOfCut = ({ name }: Any) =>
  Effect.logWarning(
    `${name}: the list has no total and ends at 1,000 items, where Auth0 cuts lists by page number: it may have more`
  )

const problems = { Endless: "the pages do not end", Incomplete: "the list ends before its total" } as const

const broken = ({ items, name }: Any & PagedEndpoint, { _tag, reason }: Broken) =>
  new UnexpectedResponse({
    operation: name,
    status: 200,
    reason: _tag === "Endless" ? "endless" : "incomplete",
    outcome: "not-done",
    message: `${problems[_tag]}: ${reason}`,
    ...(items !== undefined && { path: items }),
    shape: "JSON"
  })

/** All items of an operation that gives pages, as a stream: page by page through the operation itself. */
import * as Channel from "effect/Channel"
import * as Chunk from "effect/Chunk"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Any, Endpoint } from "./Endpoint.js"
import { type ClientError, InvalidInput, UnexpectedResponse } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import * as Derived from "./internal/pagination/pageSchema.js"
import { Listing } from "./internal/pagination/pageTracker.js"
import * as EventLoop from "./internal/runtime/yieldToEventLoop.js"
import type { Paged } from "./Operation.js"

/** What the input of an operation has that can be paged. */
export interface Paging {
  /** The page to begin with, counted from 0 (default: the first). */
  readonly page?: number | undefined
}

/** What is on the pages of an operation. */
export type Item<Success, Items extends string> = Success extends { readonly [Name in Items]?: infer List }
  ? NonNullable<List> extends ReadonlyArray<infer Item> ? Item : never
  : never

/** An item that is not what the operation promises. */
export class UndecodableItem extends Data.TaggedError("UndecodableItem")<{
  readonly operation: string
  readonly message: string
  /** The page that it is on, counted from 0. */
  readonly page: number
  /** The first member that is not as promised, from the page on: `versions[3].number`. */
  readonly path: string
  /** The item as it came. It may hold personal data, so it prints as `<redacted>`. */
  readonly raw: Redacted.Redacted<unknown>
}> {}

/**
 * All items from `input.page` on, each once, in the service's order. What else the input sets holds for every page; the
 * service decides how many are on one unless `per_page` is set.
 *
 * A page is emitted as its first item and then the rest, and an empty chunk after it lets go of the page. Pulling the rest
 * sends for the next page, so that it comes while the rest is being worked on, also by who never pauses, unless a token, the
 * limiter or a connection has to be waited for; `Stream.take(1)` costs one request. At most two pages are held. Items that
 * new ones have moved to a later page are known by their `id` and left out, as long as they lie within the last two
 * pages. Those that deletions move to an earlier page are not seen: pages are numbered, and there is no other way to ask for
 * them.
 *
 * It fails as the operation does, after all that came before; with `InvalidInput` if `per_page` is 0; and with
 * `UnexpectedResponse`, reason `endless`, if a page has nothing new or there are more than twice as many as `total` allows.
 */
export const stream = <Input extends Paging, Success, Failure, Items extends string>(
  operation: Paged<Input, Success, Failure, Items>,
  input: Input
): Stream.Stream<Item<Success, Items>, Failure | ClientError, IdentityClient> => {
  const { endpoint } = operation
  // Sound: what lies in the member `Items` of a success is a list of `Item`s.
  return pages(endpoint, input, (item) => item as Item<Success, Items>)
}

/**
 * The same, but an item that is not as promised does not fail its page: it comes in its place, with its path and its raw
 * value. All else of the page is checked as always.
 */
export const streamEither = <Input extends Paging, Success, Failure, Items extends string>(
  operation: Paged<Input, Success, Failure, Items>,
  input: Input
): Stream.Stream<Either.Either<Item<Success, Items>, UndecodableItem>, Failure | ClientError, IdentityClient> => {
  const { check, endpoint } = Derived.of(operation.endpoint)
  const { items, name } = operation.endpoint
  const checked = (item: unknown, index: number, page: number) =>
    Either.mapLeft(check(item), ({ message, path }) => {
      const whole = `${items}[${index}]${path === "" ? "" : `.${path}`}`
      return new UndecodableItem({
        operation: name,
        message: `not as promised at ${whole}: ${message}`,
        page,
        path: whole,
        raw: Redacted.make(item)
      })
    }) as Either.Either<Item<Success, Items>, UndecodableItem> // sound: it was just checked
  // Sound: the failures of the derived endpoint are the operation's.
  return pages(endpoint as Endpoint<Input, unknown, Failure> & Derived.Listed, input, checked)
}

/** A page that was fetched: what is new on it. */
interface Fetched<A> {
  readonly fresh: ReadonlyArray<A>
  readonly isLast: boolean
}

const pages = <Input extends Paging, Success, Failure, A>(
  endpoint: Endpoint<Input, Success, Failure> & Derived.Listed,
  input: Input,
  make: (item: unknown, place: number, page: number) => A
): Stream.Stream<A, Failure | ClientError, IdentityClient> => {
  type Chunks = Channel.Channel<Chunk.Chunk<A>, unknown, Failure | ClientError, unknown, unknown, unknown>

  const empty: Fetched<A> = { fresh: [], isLast: true }

  const begin = (client: Context.Tag.Service<IdentityClient>, scope: Scope.Scope): Chunks => {
    const { page: start = 0 } = input
    const listing = new Listing(start)

    const fetch = (page: number): Effect.Effect<Fetched<A>, Failure | ClientError> =>
      Effect.flatMap(
        // The first page is asked for as the caller has it.
        Effect.suspend(() => client.execute(endpoint, page === start ? input : { ...input, page })),
        (success) => {
          const items = itemsOf(endpoint, success)
          const taken = listing.take(items, Predicate.isRecord(success) ? success["total"] : undefined)
          return taken._tag === "Endless"
            ? endless(endpoint, taken.why)
            : Effect.succeed({
              fresh: taken.fresh.map((place) => make(items[place], place, page)),
              isLast: taken.isLast
            })
        }
      )

    // Pages are held here and nowhere else of ours: what has been emitted is garbage, while fibers and closures may live on.
    let current = empty
    let ahead = empty

    const fetchAhead = (page: number) => Effect.map(fetch(page), (fetched) => void (ahead = fetched))

    const emit = (from: number, to?: number): Chunks =>
      Channel.write(Chunk.unsafeFromArray(current.fresh.slice(from, to)))

    const first = (page: number, ready: Effect.Effect<void, Failure | ClientError>): Chunks =>
      Channel.flatMap(Channel.fromEffect(ready), () => {
        current = ahead
        ahead = empty
        return Channel.flatMap(emit(0, 1), () => rest(page))
      })

    const rest = (page: number): Chunks =>
      current.isLast
        ? emit(1)
        : Channel.flatMap(
          Channel.fromEffect(Effect.zipLeft(Effect.forkIn(fetchAhead(page + 1), scope), EventLoop.pass)),
          (fiber) => {
            const emitted = emit(1)
            current = empty
            return Channel.flatMap(
              Channel.zipRight(emitted, letGo),
              () => first(page + 1, Effect.flatten(Fiber.await(fiber)))
            )
          }
        )

    return first(start, fetchAhead(start))
  }

  // A channel of its own, where `Stream.fromPull` and `Stream.unwrapScoped` would do: it costs less for each chunk.
  return "per_page" in input && input.per_page === 0
    ? Stream.fail(nothing(endpoint))
    : Stream.fromChannel(Channel.acquireUseRelease(
      Effect.zip(IdentityClient, Scope.make()),
      ([client, scope]) => begin(client, scope),
      ([, scope], exit) => Scope.close(scope, exit)
    ))
}

/** A channel holds what it has emitted until it emits anew: so it does not hold a page while the next one comes. */
const letGo = /* @__PURE__ */ Channel.write(/* @__PURE__ */ Chunk.empty<never>())

/** The list on a page; one that may be missing is empty then. */
const itemsOf = ({ items }: Derived.Listed, success: unknown): ReadonlyArray<unknown> => {
  const list = Predicate.isRecord(success) ? success[items] : undefined
  return Array.isArray(list) ? list : []
}

const nothing = ({ name }: Any) =>
  new InvalidInput({ operation: name, issues: [{ path: "per_page", message: "expected an integer of at least 1" }] })

const endless = ({ items, name }: Any & Derived.Listed, why: string) =>
  new UnexpectedResponse({
    operation: name,
    status: 200,
    reason: "endless",
    message: `the pages do not come to an end: ${why}`,
    path: items,
    shape: "JSON"
  })

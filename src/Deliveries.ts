/** Lists the failed deliveries of an event stream. `Redelivery` redelivers them. */
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { InvalidInput } from "./Errors.js"
import type { IdentityClient } from "./IdentityClient.js"
import { encode, type Filter } from "./internal/deliveries/filter.js"
import { streamIssues } from "./internal/deliveries/streamId.js"
import type { Failure } from "./Operation.js"
import { type Delivery, listDeliveries } from "./operations/listDeliveries.js"
import * as Pagination from "./Pagination.js"

export type { Filter, Time } from "./internal/deliveries/filter.js"

/**
 * Streams the failed deliveries of an event stream that match, each once, 100 with each request. The `id` of a delivery is that of its event.
 *
 * The list goes on by checkpoint, so deliveries that recover or fail meanwhile move no others, and none is missed or given twice; one
 * that comes again, because it has failed again, is left out. Therefore the stream remembers the ids that it has given, about 100 bytes
 * each. The next page is requested before the rest of the current one is emitted: redelivering what the stream gives
 * does not end a checkpoint that is still needed.
 *
 * The service takes times without a fraction: `from` is rounded down to a second and `to` up, so a second more may match, but nothing is
 * missed. Requires one of the scopes `read:event_streams` and `read:event_deliveries`. Fails with `InvalidInput` that names an invalid
 * field, with `NotFound` if the stream does not exist, and like `listDeliveries`, after the deliveries of all earlier pages.
 * @since 0.1.0 @category streams
 * @example `Deliveries.failed(stream, { from: lastNight }).pipe(Stream.map(({ id }) => id), (ids) => Redelivery.run(ids, { stream }))`
 */
export const failed = (
  stream: string,
  filter: Filter = {}
): Stream.Stream<Delivery, Failure<typeof listDeliveries>, IdentityClient> =>
  Stream.suspend(() => {
    const encoded = encode(filter)
    const issues = [
      ...streamIssues(listDeliveries.endpoint, stream),
      ...(Either.isLeft(encoded) ? encoded.left : [])
    ]
    if (Either.isLeft(encoded) || issues.length > 0) {
      return Stream.fail(new InvalidInput({ operation: "Deliveries.failed", issues }))
    }
    const { event_types, ...dates } = encoded.right
    const given = new Set<string>()
    return Pagination.stream(listDeliveries, {
      id: stream,
      statuses: "failed",
      ...(event_types !== undefined && { event_types: event_types.join(",") }),
      ...dates,
      take: 100
    }).pipe(Stream.filter(({ id }) => !given.has(id) && given.add(id).has(id)))
  })

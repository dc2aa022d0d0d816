/** The body of a request that is a stream of the caller's. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as FiberAccess from "../../runtime/fiber.js"

/**
 * Tells a failure of the caller's stream from one of the network, once per request. `end` ends the stream, as not every client does that with
 * its request, and `fetch` of Node waits for the next chunk. It then fails, so that the service never takes a part as the whole.
 */
export const watched = ({ contentLength, contentType, stream }: HttpBody.Stream) => {
  let [hasBegun, hasFailed] = [false, false]
  const ended = FiberAccess.makeDeferred<never, "ended">()
  const observed = stream.pipe(
    Stream.tap(() => Effect.sync(() => void (hasBegun = true))),
    Stream.catchAllCause((cause) => {
      hasFailed ||= !Cause.isInterruptedOnly(cause)
      return Stream.fail("failed")
    }),
    Stream.interruptWhenDeferred(ended)
  )
  return {
    body: HttpBody.stream(observed, contentType, contentLength),
    hasBegun: () => hasBegun,
    hasFailed: () => hasFailed,
    end: Deferred.fail(ended, "ended")
  }
}

/** Tells whether the stream of a run exists: a 404 means that the event does not, or that the stream does not. */
import * as Effect from "effect/Effect"
import type {
  BadRequest,
  Forbidden,
  InsufficientScope,
  InvalidInput,
  NotFound,
  RateLimited,
  TokenError,
  TransportError,
  Unauthorized,
  UnexpectedResponse
} from "../../Errors.js"
import { concerns, failureName, isTransient } from "../runtime/failures.js"
import type { Restore } from "../runtime/fiber.js"

/** A failure after which another request may find out, or which ends the run anyway. */
export type CheckFailure = Unauthorized | RateLimited | TokenError | TransportError | UnexpectedResponse

type ReadFailure = CheckFailure | NotFound | InsufficientScope | Forbidden | BadRequest | InvalidInput

/** A client that may not read the stream may still redeliver its events, so a 403 does not end the run. */
const saysNothing = (error: ReadFailure): error is CheckFailure =>
  error._tag !== "InsufficientScope" && error._tag !== "Forbidden" &&
  (isTransient(error) || concerns(error) === "client")

export interface StreamCheck {
  /** Reports that an event of the stream was accepted, so that no call is needed. */
  readonly seen: () => void
  /** True if the stream exists, or that cannot be found out. Asks the service once. Fails if the service gave no response: ask again. */
  readonly exists: (restore: Restore) => Effect.Effect<boolean, CheckFailure>
}

/** Makes the check of a run. `read` fails with `NotFound` if the stream does not exist. */
export const make = (read: Effect.Effect<unknown, ReadFailure>): Effect.Effect<StreamCheck> =>
  Effect.map(Effect.makeSemaphore(1), (oneAtATime) => {
    let known: boolean | undefined

    const ask: Effect.Effect<boolean, CheckFailure> = Effect.matchEffect(read, {
      onSuccess: () => Effect.succeed(true),
      onFailure: (error) =>
        error._tag === "NotFound" ? Effect.succeed(false) : saysNothing(error) ? Effect.fail(error) : Effect.as(
          Effect.logWarning(
            `cannot tell whether the event stream exists, so each 404 counts as "gone"; check its id: ${
              failureName(error)
            }`
          ),
          true
        )
    })

    return {
      seen: () => void (known ??= true),
      exists: (restore) =>
        restore(
          oneAtATime.withPermits(1)(
            Effect.suspend(() =>
              known === undefined ? Effect.tap(ask, (exists) => void (known = exists)) : Effect.succeed(known)
            )
          )
        )
    }
  })

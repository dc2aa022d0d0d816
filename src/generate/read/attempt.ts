/** Runs readers, which throw. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { SpecError } from "../model/specError.js"

/** The result of a reader, or the `SpecError` that it throws. Any other error is a defect. */
export const attempt = <A>(read: () => A): Either.Either<A, SpecError> =>
  Either.try({
    try: read,
    catch: (error) => {
      if (error instanceof SpecError) return error
      throw error
    }
  })

/** Runs a reader as an effect. */
export const attemptEffect = <A>(read: () => A): Effect.Effect<A, SpecError> =>
  Effect.suspend(() =>
    Either.match(attempt(read), { onLeft: (error) => Effect.fail(error), onRight: (value) => Effect.succeed(value) })
  )

/** Runs readers, which throw. */
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

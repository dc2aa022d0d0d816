/** The failures of a `KeyValueStore`: the only module that makes them. */
import { type PlatformError, SystemError } from "@effect/platform/Error"
import type * as Effect from "effect/Effect"

/** The failure of an operation of a `KeyValueStore`. */
export type StoreFailure = PlatformError

/** Makes the failure of an operation, on an entry or on all of them. */
export const storeFailure = (
  method: string,
  key: string | undefined,
  description: string,
  reason: SystemError["reason"] = "Unknown"
): SystemError =>
  new SystemError({
    reason,
    module: "KeyValueStore",
    method,
    description,
    ...(key !== undefined && { pathOrDescriptor: key })
  })

/** Fails as a store does where the file system fails. On this line of Effect, both have the same failures. */
export const withStoreFailure =
  (_method: string, _key: string) =>
  <A, R>(self: Effect.Effect<A, PlatformError, R>): Effect.Effect<A, StoreFailure, R> => self

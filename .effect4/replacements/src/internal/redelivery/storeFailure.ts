/** The failures of a `KeyValueStore`: the only module that makes them. */
import * as Effect from "effect/Effect"
import { KeyValueStoreError } from "effect/persistence/KeyValueStore"
import type { PlatformError, SystemErrorTag } from "effect/PlatformError"

/** The failure of an operation of a `KeyValueStore`. */
export type StoreFailure = KeyValueStoreError

/** Makes the failure of an operation, on an entry or on all of them. */
export const storeFailure = (
  method: string,
  key: string | undefined,
  description: string,
  reason: SystemErrorTag = "Unknown"
): StoreFailure =>
  new KeyValueStoreError({
    method,
    message: `${reason}: KeyValueStore.${method}${key === undefined ? "" : ` (${key})`}: ${description}`,
    ...(key !== undefined && { key })
  })

/** Fails as a store does where the file system fails. */
export const withStoreFailure =
  (method: string, key: string) =>
  <A, R>(self: Effect.Effect<A, PlatformError, R>): Effect.Effect<A, StoreFailure, R> =>
    Effect.mapError(self, (cause) => new KeyValueStoreError({ method, key, message: cause.message, cause }))

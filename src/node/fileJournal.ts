/** A journal in a directory: one file for each entry, written so that it survives the loss of power. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { withStoreFailure } from "../internal/redelivery/storeFailure.js"
import { makeDeferred } from "../internal/runtime/fiber.js"

/** Lets several callers share a run of an effect. A caller that arrives during a run gets the result of the next run. */
export const shareRuns = <E>(effect: Effect.Effect<void, E>): Effect.Effect<void, E> => {
  const oneAtATime = Effect.unsafeMakeSemaphore(1)
  let next: Deferred.Deferred<void, E> | undefined
  const run = (result: Deferred.Deferred<void, E>) =>
    oneAtATime.withPermits(1)(Effect.suspend(() => {
      next = undefined
      return Effect.intoDeferred(effect, result)
    }))
  return Effect.uninterruptible(Effect.suspend(() => {
    if (next !== undefined) return Deferred.await(next)
    next = makeDeferred()
    return Effect.zipRight(run(next), Deferred.await(next))
  }))
}

/** Makes a journal in a directory, which is created for this user only if it does not exist. */
export const make = (
  directory: string
): Effect.Effect<KeyValueStore.KeyValueStore, PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path

    const sync = (file: string, flag: "r" | "wx", content?: Uint8Array) =>
      Effect.scoped(Effect.gen(function*() {
        const opened = yield* fs.open(file, { flag, mode: 0o600 })
        if (content !== undefined && content.length > 0) yield* opened.writeAll(content)
        yield* opened.sync
      }))

    /** Makes new names in a directory durable. Windows cannot do that, and does not need to. */
    const syncNames = (directory: string) => process.platform === "win32" ? Effect.void : sync(directory, "r")
    const syncDirectory = shareRuns(syncNames(directory))

    /** The directories that are going to contain a new one. */
    const parents: Array<string> = []
    for (let at = path.resolve(directory); !(yield* fs.exists(at));) {
      const parent = path.dirname(at)
      if (parent === at) break // a drive that does not exist
      parents.push(parent)
      at = parent
    }
    yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
    yield* Effect.forEach(parents, syncNames)

    const { clear, get, getUint8Array, has, remove, size } = yield* Effect.provide(
      KeyValueStore.KeyValueStore,
      KeyValueStore.layerFileSystem(directory)
    )

    /** Writes a new file, syncs it, and gives it the entry's name: a reader sees the old value or the new one, never a part. */
    const set = (key: string, value: string | Uint8Array) =>
      Effect.gen(function*() {
        const name = encodeURIComponent(key)
        const suffix = (yield* Random.nextIntBetween(0, 2 ** 31)).toString(36)
        const temporary = path.join(directory, `${name}.${suffix}.new`)
        const content = typeof value === "string" ? new TextEncoder().encode(value) : value
        yield* Effect.onError(
          Effect.zipRight(sync(temporary, "wx", content), fs.rename(temporary, path.join(directory, name))),
          () => Effect.ignore(fs.remove(temporary))
        )
        yield* syncDirectory
      }).pipe(withStoreFailure("set", key))

    return KeyValueStore.make({ clear, get, getUint8Array, has, remove, set, size })
  })

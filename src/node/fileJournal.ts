/** A journal in a directory of files. Its lock names the process that holds it, so the next run can remove it after a crash. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Path from "@effect/platform/Path"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { hostname } from "node:os"
import { JournalError, storeError } from "../internal/redelivery/journal.js"
import type { Journal } from "../Redelivery.js"

/** A process of some machine. */
interface LockHolder {
  /** The machine's name in hexadecimal digits. */
  readonly host: string
  readonly pid: number
  /** The start time of the process, as `startTimeOf` reads it: process ids are reused. */
  readonly startTime: string
}

/** A start time where the system does not tell any. */
const unknownTime = ""

const isNoSuchProcess = (error: unknown) => Predicate.hasProperty(error, "code") && error.code === "ESRCH"

/** The start time of a process of this machine in the kernel's clock ticks since boot; none if there is no such process. */
const startTimeOf = (fs: FileSystem.FileSystem, pid: number): Effect.Effect<Option.Option<string>> =>
  fs.readFileString(`/proc/${pid}/stat`).pipe(
    Effect.map((stat) => {
      // The second field is the program's name in brackets, and may itself contain brackets and blanks. After it come the
      // state (field 3) and, as field 22, the start time.
      const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const hasEnded = state === "Z" || state === "X"
      return hasEnded ? Option.none() : Option.fromNullable(rest[18])
    }),
    // Not on Linux, or the process does not exist. Signal 0 only checks if it does.
    Effect.catchAll(() =>
      Effect.try({ try: () => process.kill(pid, 0), catch: isNoSuchProcess }).pipe(
        Effect.match({
          onFailure: (isGone) => isGone ? Option.none() : Option.some(unknownTime),
          onSuccess: () => Option.some(unknownTime)
        })
      )
    )
  )

/** Checks if a process of this machine has certainly ended. */
const hasEnded = (fs: FileSystem.FileSystem, { pid, startTime }: LockHolder): Effect.Effect<boolean> =>
  Effect.map(
    startTimeOf(fs, pid),
    Option.match({
      onNone: () => true,
      onSome: (current) => current !== unknownTime && startTime !== unknownTime && current !== startTime
    })
  )

/** `lock.HOST.PID.START.NONCE`. The name says it all, because a crash may leave the file empty. */
const lockName = ({ host, pid, startTime }: LockHolder, nonce: number) =>
  `lock.${host}.${pid}.${startTime}.${nonce.toString(36)}`

const lockPattern = /^lock\.([0-9a-f]*)\.(\d+)\.(\d*)\.[0-9a-z]+$/

const parseLockName = (name: string): LockHolder | undefined => {
  const match = lockPattern.exec(name)
  if (match === null) return undefined
  const [, host, pid, startTime] = match as unknown as readonly [string, string, string, string] // sound: no group is optional
  return { host, pid: Number(pid), startTime }
}

/**
 * Locks the directory by a file. The file is written before the other files are read: of two runs that start at the same
 * time, at least one sees the other. Removes lock files of processes that have ended.
 */
const lock = (
  fs: FileSystem.FileSystem,
  path: Path.Path,
  directory: string
): Effect.Effect<void, JournalError, Scope.Scope> => {
  const host = Encoding.encodeHex(hostname())
  const release = (file: string) => Effect.ignore(fs.remove(file))

  const failIfLocked = (ownName: string) =>
    Effect.gen(function*() {
      for (const name of yield* fs.readDirectory(directory)) {
        const holder = name === ownName ? undefined : parseLockName(name)
        if (holder === undefined) continue
        const file = path.join(directory, name)
        const isOfThisHost = holder.host === host
        if (isOfThisHost && (yield* hasEnded(fs, holder))) {
          yield* release(file)
          continue
        }
        const since = yield* fs.readFileString(file).pipe(Effect.orElseSucceed(() => ""))
        return yield* new JournalError({
          reason: "locked",
          message: `process ${holder.pid}${isOfThisHost ? "" : " of another machine"} holds the journal${
            since === "" ? "" : ` since ${since}`
          }; if it has ended, remove ${file}`
        })
      }
    })

  const acquire = Effect.gen(function*() {
    const startTime = Option.getOrElse(yield* startTimeOf(fs, process.pid), () => unknownTime)
    const name = lockName({ host, pid: process.pid, startTime }, yield* Random.nextIntBetween(0, 2 ** 31))
    const file = path.join(directory, name)
    yield* fs.writeFileString(file, DateTime.formatIso(yield* DateTime.now))
    yield* Effect.onError(failIfLocked(name), () => release(file))
    return file
  }).pipe(Effect.catchAll((error) => error._tag === "JournalError" ? error : storeError(error)))

  return Effect.asVoid(Effect.acquireRelease(acquire, release))
}

/** Makes a journal in a directory, which is created if it does not exist. */
export const make = (
  directory: string
): Effect.Effect<Journal, PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* fs.makeDirectory(directory, { recursive: true })
    const store = yield* Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerFileSystem(directory))
    return { ...store, lock: lock(fs, path, path.resolve(directory)) }
  })

/** A journal in a directory of files, which knows whether the process that holds it still lives. */
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
import { broken, JournalError } from "../internal/redelivery/journal.js"
import type { Journal } from "../Redelivery.js"

/** A process of this machine. Numbers of processes are used again: `started` tells one from a later one, where it is known. */
interface Process {
  readonly pid: number
  readonly started: string
}

/** When a process was started, by the kernel's own count; none if there is no such process, `""` if that cannot be known. */
const startOf = (fs: FileSystem.FileSystem, pid: number): Effect.Effect<Option.Option<string>> =>
  fs.readFileString(`/proc/${pid}/stat`).pipe(
    Effect.map((stat) => {
      // The name of the program stands in brackets, and may hold anything.
      const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return state === "Z" || state === "X" ? Option.none() : Option.fromNullable(rest[18])
    }),
    Effect.catchAll(() =>
      Effect.try({
        try: () => process.kill(pid, 0),
        catch: (error) => Predicate.hasProperty(error, "code") && error.code === "ESRCH"
      }).pipe(
        Effect.match({
          onFailure: (isGone) => isGone ? Option.none() : Option.some(""),
          onSuccess: () => Option.some("")
        })
      )
    )
  )

/** Whether a process is certainly not there any more. */
const isDead = (fs: FileSystem.FileSystem, { pid, started }: Process): Effect.Effect<boolean> =>
  Effect.map(
    startOf(fs, pid),
    Option.match({
      onNone: () => true,
      onSome: (now) => now !== "" && started !== "" && now !== started
    })
  )

/** `lock.HOST.PID.START.NONCE`: all is in the name, since a file may be cut off. */
const lockName = (host: string, { pid, started }: Process, nonce: number) =>
  `lock.${Encoding.encodeHex(host)}.${pid}.${started}.${nonce.toString(36)}`

/** What `lockPattern` finds. */
type LockFound = readonly [whole: string, host: string, pid: string, started: string]

const lockPattern = /^lock\.([0-9a-f]*)\.(\d+)\.(\d*)\.[0-9a-z]+$/

/**
 * Holds the directory by a file of its own. It is written before the others are looked at, so of two runs that begin at the
 * same time at least one sees the other; what a dead process has left is removed.
 */
const lock = (
  fs: FileSystem.FileSystem,
  path: Path.Path,
  directory: string
): Effect.Effect<void, JournalError, Scope.Scope> => {
  const host = hostname()
  const release = (file: string) => Effect.ignore(fs.remove(file))

  const refuseIfHeld = (mine: string) =>
    Effect.gen(function*() {
      for (const name of yield* fs.readDirectory(directory)) {
        const found = lockPattern.exec(name)
        if (found === null || name === mine) continue
        const [, theirHost, pid, started] = found as unknown as LockFound // sound: each group takes part in every match
        const file = path.join(directory, name)
        const isHere = theirHost === Encoding.encodeHex(host)
        if (isHere && (yield* isDead(fs, { pid: Number(pid), started }))) {
          yield* release(file)
          continue
        }
        const holder = isHere ? `process ${pid}` : `process ${pid} of another machine`
        const since = yield* fs.readFileString(file).pipe(Effect.orElseSucceed(() => ""))
        return yield* new JournalError({
          reason: "locked",
          message: `${holder} holds the journal${
            since === "" ? "" : ` since ${since}`
          }; if it has ended, remove ${file}`
        })
      }
    })

  const take = Effect.gen(function*() {
    const started = Option.getOrElse(yield* startOf(fs, process.pid), () => "")
    const mine = lockName(host, { pid: process.pid, started }, yield* Random.nextIntBetween(0, 2 ** 31))
    const file = path.join(directory, mine)
    yield* fs.writeFileString(file, DateTime.formatIso(yield* DateTime.now))
    yield* Effect.onError(refuseIfHeld(mine), () => release(file))
    return file
  }).pipe(Effect.catchAll((error) => error._tag === "JournalError" ? error : broken(error)))

  return Effect.asVoid(Effect.acquireRelease(take, release))
}

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

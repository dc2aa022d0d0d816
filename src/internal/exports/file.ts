/** Writes an export into a file: all of it or nothing, over crashes, and with one job. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { defined } from "../runtime/defined.js"
import { ExportError, withJob } from "./exportError.js"
import { gunzip } from "./gunzip.js"
import type { Job } from "./job.js"
import { makeRowCounter } from "./lines.js"
import type { Track } from "./progress.js"
import * as State from "./state.js"

/** A file that is complete. @since 0.1.0 @category models */
export interface ExportedFile {
  readonly path: string
  /** The id of the job whose file it is. */
  readonly job: string
  /** The number of rows, without the header of CSV. */
  readonly rows: number
  /** The size of the file in bytes. */
  readonly size: number
}

/** The steps around the request that starts a job. */
export interface StartSteps<E> {
  /** Comes right before the request. */
  readonly claim: Effect.Effect<void, E>
  /** Undoes the claim: certainly no job was started. */
  readonly undo: Effect.Effect<void>
  /** Keeps the id of the job, before anything else happens. */
  readonly keep: (id: string) => Effect.Effect<void, E>
}

/** An export that `write` begins or goes on with. */
export interface FileExport<E> {
  readonly path: string
  /** The input of the job, as JSON. */
  readonly input: string
  /** The id of a job to go on with. */
  readonly job: string | undefined
  readonly gzip: boolean
  readonly overwrite: boolean
  readonly startAgain: boolean
  readonly start: (steps: StartSteps<PlatformError | ExportError>) => Effect.Effect<string, Failure<E>>
  /** Tells the id of a job that was started earlier. */
  readonly note: (job: string) => Effect.Effect<void>
  /** Tells that the job or its file is gone, so that the next run has to start another. */
  readonly isOver: (error: Failure<E>) => boolean
  /** Waits for the end of a job, and streams its file as it is in the storage. */
  readonly download: (job: string) => Effect.Effect<
    { readonly job: Job; readonly bytes: Stream.Stream<Uint8Array, E | ExportError> },
    E | ExportError
  >
  readonly format: (job: Job) => "json" | "csv"
  readonly track: Track
}

type Failure<E> = E | ExportError | PlatformError

const failure = (reason: ExportError["reason"], message: string, job?: string) =>
  new ExportError({ reason, message, ...defined({ job }) })

/** Writes the file of a job into `part`, and returns the number of its rows. */
const writePart = <E>(
  fs: FileSystem.FileSystem,
  { download, format, gzip, track }: FileExport<E>,
  id: string,
  part: string
): Effect.Effect<number, Failure<E>> =>
  Effect.scoped(Effect.gen(function*() {
    const { bytes, job } = yield* download(id)
    const file = yield* fs.open(part, { flag: "wx", mode: 0o600 })
    const writeAll = (chunk: Uint8Array) => file.writeAll(chunk)
    const counter = makeRowCounter(format(job))
    let chunks: Array<Uint8Array> = []
    const pull = yield* gunzip(
      // A compressed file is decompressed all the same, which shows whether it is whole.
      gzip ? Stream.tap(bytes, writeAll) : bytes,
      (chunk) => {
        counter.add(chunk)
        if (!gzip) chunks.push(chunk)
      }
    )
    const writeChunks = Effect.suspend(() => {
      const written = chunks
      chunks = []
      return Effect.forEach(written, writeAll, { discard: true })
    })
    const next: Effect.Effect<void, Option.Option<Failure<E>>> = Effect.zipRight(
      pull,
      Effect.mapError(writeChunks, Option.some)
    )
    const all: Effect.Effect<void, Option.Option<Failure<E>>> = Effect.forever(
      Effect.zipRight(next, Effect.suspend(() => track({ rows: counter.count() })))
    )
    yield* Effect.catchAll(
      all,
      Option.match({ onNone: (): Effect.Effect<void, Failure<E>> => writeChunks, onSome: Effect.fail })
    )
    yield* file.sync
    return counter.count()
  })).pipe(Effect.mapError(withJob(id)))

/** Chooses the job: of the state, of the options, or a new one. */
const jobOf = <E>(
  { input, job, note, start, startAgain }: FileExport<E>,
  state: State.State | undefined,
  store: ReturnType<typeof State.make>,
  checkPath: Effect.Effect<void, PlatformError | ExportError>
): Effect.Effect<string, Failure<E>> => {
  const id = state?.job ?? job
  if (id !== undefined) return Effect.as(note(id), id)
  if (state !== undefined && !startAgain) {
    return failure(
      "unknown-start",
      "an earlier run ended while it started a job: look for it in the tenant, then give its id (job), or allow another one (startAgain)"
    )
  }
  let isClaimed = false
  // Another run may have come to its end while this one waited for its permit.
  const claim = store.create({ input }).pipe(
    Effect.zipRight(Effect.tapErrorCause(checkPath, () => store.remove)),
    Effect.tap(() => Effect.sync(() => void (isClaimed = true)))
  )
  return start({
    // With `startAgain` there is a claim already. It stays: nobody knows whether the earlier run has started a job.
    claim: state === undefined ? claim : Effect.void,
    undo: Effect.suspend(() => isClaimed ? store.remove : Effect.void),
    keep: (id) => store.replace({ input, job: id })
  })
}

/** Writes the file, or goes on where an earlier run ended. */
export const write = <E>(options: FileExport<E>): Effect.Effect<ExportedFile, Failure<E>, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const { gzip, input, isOver, overwrite, path, track } = options
    const fs = yield* FileSystem.FileSystem
    const store = State.make(fs, path)
    const state = yield* store.read

    const superseded = (job: string) => failure("superseded", "another run writes this file", job)
    /** Gives a complete part its name. Without the part, another run has begun to write the file anew. */
    const publish = (part: string, job: string) =>
      Effect.catchIf(
        fs.rename(part, path),
        (error) => error._tag === "SystemError" && error.reason === "NotFound",
        () => superseded(job)
      )
    /** Ends an export whose file has its name. */
    const finish = (job: string, rows: number) =>
      Effect.gen(function*() {
        yield* store.syncFolder
        yield* store.remove
        const { size } = yield* fs.stat(path)
        yield* track({ phase: "done", job, rows })
        return { path, job, rows, size: Number(size) }
      })

    if (state !== undefined && state.input !== "" && state.input !== input) {
      return yield* failure(
        "other-export",
        `${store.file} keeps the state of an export with another input`,
        state.job
      )
    }
    if (state?.job !== undefined && options.job !== undefined && state.job !== options.job) {
      return yield* failure("other-export", `${store.file} keeps the state of another job`, state.job)
    }
    const checkPath = Effect.gen(function*() {
      if (!(yield* fs.exists(path))) return
      const { type } = yield* fs.stat(path)
      if (type === "Directory") return yield* failure("exists", "there is a folder of this name", state?.job)
      if (!overwrite) return yield* failure("exists", "the file is there already", state?.job)
    })
    // What an earlier run has completed is of use if it was to be compressed or not, as now.
    if (state?.rows !== undefined && (state.gzip ?? gzip) === gzip) {
      const { job = "", part, rows } = state
      if (part !== undefined && (yield* fs.exists(part))) {
        yield* checkPath
        yield* publish(part, job)
      } else {
        // Without the part, that run has given it its name, or another one has removed it to write the file anew.
        const current = yield* store.read
        if (current !== undefined && (current.rows === undefined || current.part !== part)) {
          return yield* superseded(job)
        }
      }
      return yield* finish(job, rows)
    }
    yield* checkPath

    const job = yield* jobOf(options, state, store, checkPath)
    const suffix = (yield* Random.nextIntBetween(0, 2 ** 31)).toString(36)
    const part = `${path}.${suffix}.part`
    if (state?.part !== undefined) {
      // The state names the old part until that is removed, so that a crash leaves none behind. If it says that the part is complete, it
      // forgets that first: a part that is missing then would seem to have its name.
      if (state.rows !== undefined) yield* store.replace({ input, job, part: state.part })
      yield* Effect.ignore(fs.remove(state.part))
    }
    yield* store.replace({ input, job, part })

    const rows = yield* writePart(fs, options, job, part).pipe(
      Effect.onError(() => Effect.ignore(fs.remove(part))),
      // The start of an earlier run stays unknown, whatever became of the job that was given in its place.
      Effect.tapError((error) =>
        !isOver(error)
          ? Effect.void
          : state !== undefined && state.job === undefined
          ? store.replace({ input })
          : store.remove
      )
    )
    const current = yield* store.read
    if (current?.part !== part) {
      yield* Effect.ignore(fs.remove(part))
      return yield* superseded(job)
    }
    if (!overwrite && (yield* fs.exists(path))) {
      yield* Effect.ignore(fs.remove(part))
      yield* store.replace({ input, job })
      return yield* failure("exists", "the file is there by now", job)
    }
    yield* store.replace({ input, job, part, gzip, rows })
    yield* Effect.tapError(publish(part, job), (error) =>
      error._tag !== "ExportError"
        ? Effect.void
        // The other run may have written its state before this one did: the next must not find a part that seems to have its name.
        : Effect.flatMap(store.read, (current) => current?.part === part ? store.replace({ input, job }) : Effect.void))
    return yield* finish(job, rows)
  })

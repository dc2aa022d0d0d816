/** Exports users: from the request to the last row, or to the file. One job, over links that end and connections that break. */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { InvalidInput, isTransient, outcome } from "./Errors.js"
import { IdentityClient } from "./IdentityClient.js"
import { makeCsvParser } from "./internal/exports/csv.js"
import { download } from "./internal/exports/download.js"
import { type ExportError, type UndecodableRow, withJob } from "./internal/exports/exportError.js"
import * as File from "./internal/exports/file.js"
import { gunzip } from "./internal/exports/gunzip.js"
import * as Job from "./internal/exports/job.js"
import { makeLineDecoder } from "./internal/exports/lines.js"
import { makeNdjsonParser } from "./internal/exports/ndjson.js"
import * as Progress from "./internal/exports/progress.js"
import { makeDecoder, type Row, type RowResult } from "./internal/exports/rows.js"
import { isBackgroundWork } from "./internal/limiter/limiter.js"
import { claimed } from "./internal/redelivery/claim.js"
import { withSetting } from "./internal/runtime/fiber.js"
import { fromPull } from "./internal/runtime/streams/pulls.js"
import { yieldToEventLoop } from "./internal/runtime/streams/yieldToEventLoop.js"
import { integerIssues } from "./internal/schema/issues.js"
import type * as Operation from "./Operation.js"
import { createUsersExport } from "./operations/createUsersExport.js"
import { getJob } from "./operations/getJob.js"

export { ExportError, type ExportReason, UndecodableRow } from "./internal/exports/exportError.js"
export type { ExportedFile } from "./internal/exports/file.js"
export type { Progress } from "./internal/exports/progress.js"
export type { Row } from "./internal/exports/rows.js"

/** The input of an export: that of `createUsersExport`. @since 0.1.0 @category models */
export type Input = Operation.Input<typeof createUsersExport>

/** The failures of an export: those of its calls, and `ExportError`. @since 0.1.0 @category errors */
export type Failure = Operation.Failure<typeof createUsersExport> | Operation.Failure<typeof getJob> | ExportError

/** The options of each export. @since 0.1.0 @category models */
export interface JobOptions {
  /** The id of a job to go on with: no job is started, and of `input` only `format` counts (default: a new job). */
  readonly job?: string | undefined
  /**
   * Called with the id of the job as soon as it is known, before anything else happens, also if `toFile` cannot write it down. Keep it
   * to go on after a crash.
   */
  readonly onJob?: ((id: string) => Effect.Effect<void>) | undefined
  /**
   * The longest wait for the end of the job, after which the export fails with the reason `timeout` and the job's id (default 9 hours:
   * the service fails an export that takes longer than eight). Each run counts from its own beginning.
   */
  readonly timeout?: Duration.DurationInput | undefined
  /** Updated as the export goes on; make one with `Exports.makeProgress`. */
  readonly progress?: SubscriptionRef.SubscriptionRef<Progress.Progress> | undefined
}

/** The options of `run`. @since 0.1.0 @category models */
export interface Options<A = Row, I = unknown> extends JobOptions {
  /** Decodes each row. Fields that it does not name are dropped (default: rows stay as they are). */
  readonly schema?: Schema.Schema<A, I> | undefined
  /**
   * CSV: removes the single quote that the service puts before each string, which keeps spreadsheets from reading it as a formula
   * (default: false).
   */
  readonly undoGuard?: boolean | undefined
  /**
   * The longest row in bytes, after decompression (default: 512 KiB). A longer one is an `UndecodableRow`. In CSV it goes on until its
   * last quote is closed, so that no text in it becomes a row; where none is closed, that is until the end of the file. While a row is
   * decoded the process does nothing else: about 10 ms for each MiB, or 100 if it consists of many small values.
   */
  readonly maxRowSize?: number | undefined
}

/** The options of `toFile`. @since 0.1.0 @category models */
export interface FileOptions extends JobOptions {
  /** Writes the file compressed, byte by byte as the storage has it (default: false, it is decompressed). */
  readonly gzip?: boolean | undefined
  /** Replaces a file of this name, once the new one is complete (default: false, it is the failure `exists`). */
  readonly overwrite?: boolean | undefined
  /** Starts another job if it is not known whether an earlier run has started one (default: false, it is `unknown-start`). */
  readonly startAgain?: boolean | undefined
}

/**
 * Makes a value for `JobOptions.progress`. Read it at any time, or follow its `changes`.
 * @since 0.1.0 @category constructors @example `const progress = yield* Exports.makeProgress`
 */
export const makeProgress: Effect.Effect<SubscriptionRef.SubscriptionRef<Progress.Progress>> = SubscriptionRef.make(
  Progress.initial
)

/** Failures after which a job is of no use any more: there is none of its id, or it has no file. */
const isOver = (error: Failure | PlatformError): boolean =>
  ["NotFound", "BadRequest", "InvalidInput"].includes(error._tag) ||
  (error._tag === "ExportError" && ["job-failed", "expired", "not-an-export"].includes(error.reason))

/** The parts of an export over the services. */
const make = (input: Input, { onJob = () => Effect.void, progress, timeout }: JobOptions) =>
  Effect.gen(function*() {
    const client = yield* IdentityClient
    const http = yield* HttpClient.HttpClient
    const track = yield* Progress.make(progress)

    const note = (job: string) => Effect.zipRight(track({ phase: "waiting", job }), onJob(job))

    const look = (id: string): Effect.Effect<Job.Job, Failure> =>
      // Looks are cheap for others: they leave the limiter's reserve alone.
      withSetting(client.execute(getJob.endpoint, { id }), isBackgroundWork, () => true)

    /** Waits for the end of a job. Once it has ended, that is one look, for a new link. */
    const awaitEnd = (id: string) => Job.awaitEnd(look(id), { isPassing: isTransient, track, timeout })

    return {
      track,
      note,
      start: <E>({ claim, keep, undo }: File.StartSteps<E>): Effect.Effect<string, Failure | E> => {
        const create = Effect.tapError(
          client.execute(createUsersExport.endpoint, input),
          (error) => outcome(error) === "not-done" ? undo : Effect.void
        )
        const started = Job.start(
          claimed<Job.Job, Failure, E>(client, create, claim),
          // A file that cannot be written must not hide the id.
          (id) => Effect.ensuring(keep(id), note(id))
        )
        return Effect.map(started, ({ id }) => id)
      },
      format: (job: Job.Job): "json" | "csv" => (job.format ?? input.format) === "csv" ? "csv" : "json",
      /** Waits for a job, and streams its file. */
      download: (id: string) =>
        Effect.gen(function*() {
          const job = yield* awaitEnd(id)
          const link = yield* Job.linkOf(job)
          yield* track({ phase: "downloading", percentage: 100 })
          const freshLink = Effect.flatMap(awaitEnd(id), Job.linkOf)
          const bytes = download({ client: http, freshLink, track }, link)
          return { job, bytes }
        })
    }
  })

/**
 * Exports users and streams them: starts the job, waits for its end, downloads the file, and decodes its rows. An element is a
 * row, or an `UndecodableRow` in its place: a bad row does not end the stream. Memory stays constant, however large the export is:
 * the file is downloaded only as fast as rows are taken.
 *
 * The format is `json` unless `input.format` is `csv`; rows of CSV have the names of the header and strings. The job is looked at
 * after 1 s to 30 s, depending on what it says of its progress, as background work (`RateLimiter.withBackground`).
 *
 * The file is downloaded over the `HttpClient` of the environment, by https (or http from this machine), without a token, a
 * trace or a span. A link that has ended is replaced. A broken download goes on where it was, or begins anew where the storage
 * has no ranges; no row is given twice. Interrupted while it starts the job, it waits up to 5 s for its id.
 *
 * Fails like `createUsersExport` and `getJob`, and with `ExportError`. It names the job, if there is one: with `options.job`
 * another run goes on with it, for 24 hours, from the first row.
 * In JSON rows an integer that a JavaScript number would round, such as 9007199254740993, is a string of its digits.
 * @since 0.1.0 @category streams @example `Exports.run({ format: "json" }).pipe(Stream.runForEach(Console.log))`
 */
export const run = <A = Row, I = unknown>(
  input: Input,
  options: Options<A, I> = {}
): Stream.Stream<Either.Either<A, UndecodableRow>, Failure, IdentityClient | HttpClient.HttpClient> =>
  Stream.unwrapScoped(Effect.map(read(input, options), fromPull))

/** Starts an export, and returns what reads its next rows; it fails with `Option.none()` at the end. */
const read = <A, I>(input: Input, options: Options<A, I>) =>
  Effect.gen(function*() {
    const { maxRowSize = 512 * 1024, schema, undoGuard = false } = options
    const issues = integerIssues("maxRowSize", maxRowSize, 1)
    if (issues.length > 0) return yield* new InvalidInput({ operation: "Exports.run", issues })
    const { download, format, note, start, track } = yield* make(input, options)
    const id = options.job ?? (yield* start({ claim: Effect.void, undo: Effect.void, keep: () => Effect.void }))
    if (options.job !== undefined) yield* note(id)
    const { bytes, job } = yield* Effect.mapError(download(id), withJob(id))
    const lines = makeLineDecoder(maxRowSize)
    const decode = makeDecoder(schema)
    const parser = format(job) === "csv"
      ? makeCsvParser(decode, { undoGuard, maxLength: maxRowSize })
      : makeNdjsonParser(decode)
    let taken: Array<RowResult<A>> = []
    /** Whether lines are left that can be read, after the event loop had a turn. */
    let isBehind = false
    const readRows = (): void => {
      isBehind = false // what a schema throws ends the stream
      isBehind = parser.read(taken)
    }
    const pull = yield* gunzip(bytes, (chunk) => {
      parser.push(lines.push(chunk))
      if (!isBehind) readRows()
    })
    const catchUp = Effect.map(yieldToEventLoop, readRows)
    let [rows, badRows] = [0, 0]

    /** The rows that were taken. */
    const emit = Effect.suspend(() => {
      const all = taken
      taken = []
      rows += all.length
      if (options.progress !== undefined) badRows += all.filter(Either.isLeft).length
      return Effect.as(track({ rows, badRows }), all)
    })
    // After the end or a failure come the rows before it.
    let end: Effect.Effect<never, Option.Option<Failure>> | undefined
    const next: Effect.Effect<ReadonlyArray<RowResult<A>>, Option.Option<Failure>> = Effect.suspend(() => {
      if (end !== undefined && !isBehind) return end
      return Effect.catchAllCause(Effect.zipRight(isBehind ? catchUp : pull, emit), (cause) => {
        end = Effect.failCause(cause)
        if (Option.exists(Cause.failureOption(cause), Option.isNone)) {
          parser.push(lines.end())
          parser.end()
          if (!isBehind) readRows()
          end = Effect.zipRight(track({ phase: "done" }), end)
        }
        return emit
      })
    })
    return Effect.mapError(next, Option.map(withJob(id)))
  })

/**
 * Exports users into a file. The file appears under its name once it is complete and synced to disk: all of it or nothing. Until
 * then it has another name beside it, `PATH.….part`, and `PATH.export.json` keeps the id of the job.
 *
 * Run it again with the same path and input after a crash: it goes on with the same job and downloads its file anew. Right before
 * the request that starts a job, that is written down; if a run ends before it has the id, the next one fails with `unknown-start`,
 * because a second job might be started. Then look for the job in the tenant and give its id (`job`), or allow another one (`startAgain`).
 *
 * A file that exists is left alone unless `overwrite` is set. Rows are not decoded: the file has the bytes of the service. With
 * `gzip` they are compressed, and checked all the same.
 *
 * Fails like `run`, and with `PlatformError` if a file cannot be written.
 * @since 0.1.0 @category functions @example `Exports.toFile("users.json", { format: "json" })`
 */
export const toFile = (
  path: string,
  input: Input,
  options: FileOptions = {}
): Effect.Effect<
  File.ExportedFile,
  Failure | PlatformError,
  IdentityClient | HttpClient.HttpClient | FileSystem.FileSystem
> =>
  Effect.gen(function*() {
    const { gzip = false, job, overwrite = false, startAgain = false } = options
    if (path === "") {
      return yield* new InvalidInput({ operation: "Exports.toFile", issues: [{ path: "path", message: "is empty" }] })
    }
    const { download, format, note, start, track } = yield* make(input, options)
    return yield* File.write<Failure>({
      path,
      input: JSON.stringify(input),
      job,
      gzip,
      overwrite,
      startAgain,
      start,
      note,
      download,
      format,
      isOver,
      track
    })
  })

/** The failures of exports. None contains a link, a token or a row. */
import * as Data from "effect/Data"
import type * as Redacted from "effect/Redacted"
import { defined } from "../runtime/defined.js"

/** All reasons why an export fails. */
export const exportReasons = [
  "job-failed",
  "timeout",
  "not-an-export",
  "expired",
  "unsafe-link",
  "redirect",
  "refused",
  "status",
  "network",
  "length",
  "changed",
  "not-gzip",
  "truncated",
  "corrupt",
  "unsupported",
  "exists",
  "unknown-start",
  "other-export",
  "superseded"
] as const

/**
 * The reason why an export failed.
 *
 * - `job-failed`: the job has ended without a file: it has failed, or was canceled. Start another.
 * - `timeout`: the job had not ended at `timeout`; the message has its last status. It may still end: look again with its id.
 * - `not-an-export`: the job of this id exports no users.
 * - `expired`: the job has ended, but its file is no longer offered: it is kept for 24 hours.
 * - `unsafe-link`: the link to the file is no https URL. Nothing was sent to it.
 * - `redirect`: the storage sends the download to another host. It was not followed.
 * - `refused`: the storage refuses each new link.
 * - `status`: the storage responds with an unexpected `status`, several times in a row.
 * - `network`: the storage cannot be reached, several times in a row; `code` is the system's code.
 * - `length`: the storage contradicts itself about the length of the file, or its responses end before that, several times in a row.
 * - `changed`: the file has become another while it was downloaded.
 * - `not-gzip`: what comes is not gzip, for example a web page.
 * - `truncated`: the gzip data ends too early.
 * - `corrupt`: the gzip data is damaged. Its checksum comes last, so rows that came before may be wrong.
 * - `unsupported`: the runtime has no `DecompressionStream`.
 * - `exists`: there is a file or a folder of this name: before anything was started, or by now.
 * - `unknown-start`: an earlier run ended while it started a job, so it is not known if there is one.
 * - `other-export`: the state beside the file is that of an export with another input, or cannot be read.
 * - `superseded`: another run writes the same file. This one has left it alone.
 * @since 0.1.0 @category models
 */
export type ExportReason = typeof exportReasons[number]

/** An export that failed. Its message contains no link and no row. @since 0.1.0 @category errors */
export class ExportError extends Data.TaggedError("ExportError")<{
  readonly reason: ExportReason
  readonly message: string
  /** The id of the job, if it is known: with `Options.job` another run goes on with it. */
  readonly job?: string
  /** The status of the storage's last response. */
  readonly status?: number
  /** The system's code of the last failure, for example `ECONNRESET`. */
  readonly code?: string
}> {}

/** Adds the id of the job to a failure that does not have it. */
export const withJob = (job: string) => <E>(error: E): E | ExportError =>
  error instanceof ExportError && error.job === undefined
    ? new ExportError({
      ...defined({ code: error.code, status: error.status }),
      reason: error.reason,
      message: error.message,
      job
    })
    : error

/** A row that cannot be read or does not match the schema. It takes the row's place in the stream. @since 0.1.0 @category errors */
export class UndecodableRow extends Data.TaggedError("UndecodableRow")<{
  /** The line of the file on which the row begins, counted from 1. The header row of CSV counts. */
  readonly line: number
  readonly message: string
  /** The path of the first invalid field, for example `user_metadata.country`; empty if it is the row as a whole. */
  readonly path: string
  /**
   * The row as received, at most its first 64 KiB; of one that is too long its beginning. It holds personal data, so it prints as
   * `<redacted>`.
   */
  readonly raw: Redacted.Redacted<string>
}> {}

/** The state of a run, beside its file: with it the next run goes on after a crash. It survives the loss of power. */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { defined } from "../runtime/defined.js"
import { ExportError } from "./exportError.js"

/** The state of an export into a file. Without a job, a job is being started. */
export interface State {
  /** The input of the job, as JSON. */
  readonly input: string
  readonly job?: string
  /** The file that is being written. */
  readonly part?: string
  /** Tells that `part` is compressed. */
  readonly gzip?: boolean
  /** The number of rows, once `part` is complete. */
  readonly rows?: number
}

const version = 1

const isText = (value: unknown): value is string | undefined => value === undefined || typeof value === "string"

const parse = (text: string): State | undefined => {
  const value = Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))
  if (!Predicate.isRecord(value) || value["version"] !== version || typeof value["input"] !== "string") return undefined
  const { gzip, input, job, part, rows } = value
  return isText(job) && isText(part) && (gzip === undefined || typeof gzip === "boolean") &&
      (rows === undefined || typeof rows === "number")
    ? defined({ gzip, input, job, part, rows })
    : undefined
}

/** The last of the lines that is a state: a write that ended midway leaves a line that is none. */
const lastOf = (text: string): State | undefined =>
  text.split("\n").map(parse).filter((state) => state !== undefined).at(-1)

/** The state of one file. */
export const make = (fs: FileSystem.FileSystem, path: string) => {
  const file = `${path}.export.json`

  /** Makes new names in the folder durable, where the system can do that. */
  const syncFolder = Effect.ignore(
    Effect.scoped(Effect.flatMap(fs.open(/^(.*[\\/])[^\\/]*$/.exec(path)?.[1] ?? "."), ({ sync }) => sync))
  )

  const write = (flag: "a" | "wx", before: string, state: State): Effect.Effect<void, PlatformError> =>
    Effect.scoped(Effect.flatMap(fs.open(file, { flag, mode: 0o600 }), (opened) =>
      Effect.zipRight(
        opened.writeAll(new TextEncoder().encode(`${before}${JSON.stringify({ version, ...state })}\n`)),
        opened.sync
      )))

  const unreadable = new ExportError({
    reason: "other-export",
    message: `${file} cannot be read as the state of an export: remove it if it is none`
  })

  return {
    /** The name of the file that keeps the state. */
    file,
    syncFolder,
    /** Reads the state. `undefined`: there is none. An empty file was about to be written when a job was to be started. */
    read: Effect.flatMap(
      fs.exists(file),
      (exists): Effect.Effect<State | undefined, PlatformError | ExportError> =>
        exists
          ? Effect.flatMap(fs.readFileString(file), (text) => {
            const state = lastOf(text === "" ? JSON.stringify({ version, input: "" }) : text)
            return state === undefined ? unreadable : Effect.succeed(state)
          })
          : Effect.succeed(undefined)
    ),
    /** Writes the first state. Of two runs that do so at the same time, one fails. */
    create: (state: State): Effect.Effect<void, PlatformError | ExportError> =>
      write("wx", "", state).pipe(
        Effect.catchIf(
          (error) => error._tag === "SystemError" && error.reason === "AlreadyExists",
          () => new ExportError({ reason: "superseded", message: "another run has begun to write this file" })
        ),
        Effect.zipRight(syncFolder)
      ),
    /**
     * Replaces the state, by a line more: a reader sees the old one or the new one, and two runs do not spoil what the other writes. It
     * needs no other file, which might have too long a name, be left by a crash, or have no room on a full disk.
     */
    replace: (state: State): Effect.Effect<void, PlatformError> => Effect.zipRight(write("a", "\n", state), syncFolder),
    remove: Effect.zipRight(Effect.ignore(fs.remove(file)), syncFolder)
  }
}

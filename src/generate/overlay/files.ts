/** Applies the overlays that the command is asked for, before the document is validated. */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { auth0 } from "../errata/auth0.js"
import { type Note, SpecError } from "../model/specError.js"
import { attemptEffect } from "../read/attempt.js"
import { parse } from "../read/parse.js"
import { applyOverlay, isOverlay } from "./overlay.js"
import { applyPatch } from "./patch.js"

/** The overlays that come with the package, by the names that stand for a file. */
const shipped: ReadonlyMap<string, unknown> = new Map([["auth0", auth0]])

const apply = (
  document: unknown,
  overlay: unknown,
  note: (note: Note) => void
): Effect.Effect<unknown, SpecError> =>
  Array.isArray(overlay)
    ? attemptEffect(() => applyPatch(document, overlay))
    : isOverlay(overlay)
    ? attemptEffect(() => applyOverlay(document, overlay, note))
    : Effect.fail(
      new SpecError({
        pointer: "#",
        message: "it is neither an OpenAPI Overlay (overlay: 1.0.0) nor a JSON Patch (a list)"
      })
    )

/** Applies overlays in the order of their files. Returns the new document, and notes on what matched nothing. */
export const applyFiles = (document: unknown, files: ReadonlyArray<string>): Effect.Effect<
  readonly [document: unknown, notes: ReadonlyArray<Note>],
  SpecError | PlatformError,
  FileSystem.FileSystem
> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const notes: Array<Note> = []
    let changed = document
    for (const file of files) {
      const note = ({ message, pointer }: Note) => void notes.push({ pointer, message: `${file}: ${message}` })
      const overlay = shipped.has(file) ? Effect.succeed(shipped.get(file)) : parse(yield* fs.readFileString(file))
      changed = yield* Effect.flatMap(overlay, (overlay) => apply(changed, overlay, note)).pipe(
        Effect.mapError(({ message, pointer }) => new SpecError({ pointer, message: `${file}: ${message}` }))
      )
    }
    return [changed, notes]
  })

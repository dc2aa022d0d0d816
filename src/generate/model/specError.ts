/** The failure of reading a document, with its place in the document. */
import * as Data from "effect/Data"

/** A part of a document that cannot be generated. */
export class SpecError extends Data.TaggedError("SpecError")<{
  readonly message: string
  /** The place in the document as a JSON pointer, for example `#/components/schemas/User/properties/email`. */
  readonly pointer: string
}> {}

/** Throws a `SpecError`: readers are plain functions, and `generate` catches it. */
export const fail = (pointer: string, message: string): never => {
  throw new SpecError({ message: `${message} (at ${pointer})`, pointer })
}

/** Extends a pointer by keys, escaped as RFC 6901 says. */
export const at = (pointer: string, ...keys: ReadonlyArray<string | number>): string =>
  keys.reduce<string>(
    (pointer, key) => `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    pointer
  )

/** A part of a document whose result is weaker than what the document says. It is listed on standard error. */
export interface Note {
  readonly pointer: string
  readonly message: string
}

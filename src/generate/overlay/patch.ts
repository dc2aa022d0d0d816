/** Applies JSON Patches (RFC 6902). */
import * as Either from "effect/Either"
import { jsonpatch, type JSONValue } from "json-p3"
import { at, fail } from "../model/specError.js"
import * as Json from "../read/json.js"

/** A copy without parts in common: patches change values in place, and anchors of YAML let parts of a value be one object. */
const copy = <A>(value: A): A => JSON.parse(JSON.stringify(value))

/** Applies the operations in turn. Throws a `SpecError` with the place in the patch. */
export const applyPatch = (document: unknown, operations: ReadonlyArray<unknown>): unknown =>
  copy(operations).reduce<unknown>(
    (document, value, index) => {
      const pointer = at("#", index)
      const { from, op, path, value: operand } = Json.object(value, pointer)
      const operation = {
        op: Json.string(op) ?? fail(at(pointer, "op"), "the operation has no op"),
        path: Json.string(path) ?? fail(at(pointer, "path"), "the operation has no path"),
        ...from !== undefined && { from: Json.string(from) ?? fail(at(pointer, "from"), "expected a string") },
        // Sound: a parsed patch is JSON.
        ...operand !== undefined && { value: operand as JSONValue }
      }
      // Sound: a parsed document is JSON.
      const result = Either.getOrElse(
        Either.try(() => jsonpatch.apply([operation], document as JSONValue)),
        (error) => {
          const { message } = error instanceof Error ? error : { message: String(error) }
          return fail(pointer, `operation ${index + 1}, ${operation.op} ${operation.path}, fails: ${message}`)
        }
      )
      // The library lets the two places share what it copied.
      return op === "copy" ? copy(result) : result
    },
    copy(document)
  )

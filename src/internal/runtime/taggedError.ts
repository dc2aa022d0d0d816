/** The base of this library's errors. */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"

/**
 * `Data.TaggedError` without a stack, so that a failure prints as one line: all lines of the stack of a failed call would name
 * files of this library and of Effect. Spans of the program still say where it failed.
 */
export const TaggedError: typeof Data.TaggedError = (tag) => {
  const Base = Data.TaggedError(tag) as new(fields: object) => Cause.YieldableError // sound: a part of its type
  class WithoutStack extends Base {
    constructor(fields: object) {
      super(fields)
      this.stack = `${tag}: ${this.message}`
    }
  }
  return WithoutStack as never // sound: it takes and has the same fields as `Base`
}

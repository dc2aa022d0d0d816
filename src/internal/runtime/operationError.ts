/** The base of errors of one operation: each names it in its message, so that it is known wherever the error is printed. */
import * as Data from "effect/Data"

interface Fields {
  readonly operation: string
  readonly message: string
}

/** Begins a message with its operation, unless it does. A token request has none: its messages name the token endpoint. */
const named = ({ message, operation }: Fields): string =>
  operation === "token" || message.startsWith(`${operation}: `) ? message : `${operation}: ${message}`

/** `Data.TaggedError` whose message begins with its operation. */
export const OperationError: typeof Data.TaggedError = (tag) => {
  class Named extends Data.TaggedError(tag)<Fields> {
    constructor(fields: Fields) {
      super({ ...fields, message: named(fields) } as never) // sound: TypeScript cannot resolve the conditional argument type
    }
  }
  return Named as never // sound: it takes and has the same fields as its base
}

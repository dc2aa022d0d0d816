/** Tests of the error classes of statuses: their tags, and which class of a status 403 an error response becomes. */
import { assert, describe, it } from "@effect/vitest"
import { Errors } from "../../src/index.js"

const details: Errors.ErrorDetails = { operation: "getThing", message: "A reason." }

const response = (status: number, insufficientScope: boolean): Errors.ErrorResponse => ({
  ...details,
  status,
  insufficientScope,
  required: []
})

describe("the class of an error response", () => {
  it.each(
    [
      [Errors.PaymentRequired, 402, "PaymentRequired"],
      [Errors.Gone, 410, "Gone"],
      [Errors.PreconditionFailed, 412, "PreconditionFailed"],
      [Errors.ContentTooLarge, 413, "ContentTooLarge"],
      [Errors.InternalServerError, 500, "InternalServerError"],
      [Errors.ServiceUnavailable, 503, "ServiceUnavailable"]
    ] as const
  )("has the tag and the status of %o, and is meant for all responses of it", (ErrorClass, status, tag) => {
    const error = new ErrorClass(details)
    assert.deepStrictEqual(
      [error._tag, error.name, error.status, ErrorClass.status, String(error)],
      [tag, tag, status, status, `${tag}: ${details.operation}: A reason.`]
    )
    for (const insufficientScope of [false, true]) {
      assert.isTrue(ErrorClass.matches(response(status, insufficientScope)))
    }
  })

  it.each([[true, Errors.InsufficientScope], [false, Errors.Forbidden]] as const)(
    "is one of two for a status 403, depending on whether a scope is missing: %s",
    (insufficientScope, expected) => {
      const { Forbidden, InsufficientScope } = Errors
      assert.deepStrictEqual(
        [Forbidden, InsufficientScope].map((ErrorClass) => ErrorClass.matches(response(403, insufficientScope))),
        [Forbidden, InsufficientScope].map((ErrorClass) => ErrorClass === expected)
      )
    }
  )
})

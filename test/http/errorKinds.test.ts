/** Tests of the errors of the platform's clients: what each kind says of its request. */
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as HttpClients from "../../src/internal/http/httpClients.js"
import { causeOf, reasonOf, requestError, responseError } from "../support/httpErrors.js"

const request = HttpClientRequest.get("https://tenant.example.com/")
const cause = new Error("a cause")

const kindOf = (error: HttpClients.HttpError) => ({
  invalid: HttpClients.isInvalidRequest(error),
  transport: HttpClients.isTransport(error),
  empty: HttpClients.isEmptyBody(error),
  cause: HttpClients.causeOf(error)
})

const none = { invalid: false, transport: false, empty: false, cause }

describe("an error of the platform", () => {
  it.each(
    [
      ["Transport", { ...none, transport: true }],
      ["Encode", { ...none, invalid: true }],
      ["InvalidUrl", { ...none, invalid: true }]
    ] as const
  )("of a request with the reason %s is of one kind", (reason, kind) => {
    assert.deepStrictEqual(kindOf(requestError(request, reason, { cause })), kind)
  })

  it.each(
    [
      ["Decode", none],
      ["StatusCode", none],
      ["EmptyBody", { ...none, empty: true }]
    ] as const
  )("of a response with the reason %s is not one of its request", (reason, kind) => {
    assert.deepStrictEqual(kindOf(responseError(request, reason, { cause })), kind)
  })

  it("of a request without a response is made as the platform makes it", () => {
    const error = HttpClients.makeError(request, cause)
    assert.deepStrictEqual([reasonOf(error), causeOf(error)], ["Transport", cause])
    assert.deepStrictEqual(kindOf(error), { ...none, transport: true })
  })
})

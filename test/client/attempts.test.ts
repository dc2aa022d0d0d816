/** What the failure of one attempt says: its message, whether it shows an outage, and whether the call may be retried. */
import { assert, describe, it } from "@effect/vitest"
import { RateLimited, TokenError, type TransportError } from "../../src/Errors.js"
import { deleteEventStream, redeliverEvent } from "../../src/index.js"
import { canRetryFailure, failureShowsOutage } from "../../src/internal/call/retryPolicy.js"
import { openCode, transportError } from "../../src/internal/http/transportError.js"
import { bodyFailed, unclaimedCode } from "../../src/internal/runtime/failures.js"
import { baseUrl } from "../support/client.js"

const failed = (outcome: TransportError["outcome"], code?: string) =>
  transportError("deleteEventStream", baseUrl, outcome, code)

describe("an attempt without a response", () => {
  const host = new URL(baseUrl).host
  /** `outage`: it shows that the service is unavailable. `again`: an idempotent operation may be retried, and so may any other one. */
  const rows: ReadonlyArray<
    readonly [error: TransportError, problem: string, outage: true | undefined, again: readonly [boolean, boolean]]
  > = [
    [failed("not-sent"), `${host} could not be reached`, true, [true, true]],
    [failed("not-sent", "ECONNREFUSED"), `${host} could not be reached (ECONNREFUSED)`, true, [true, true]],
    [failed("not-sent", "TIMEOUT"), `${host} could not be reached (TIMEOUT)`, undefined, [true, true]],
    [failed("unknown", "TIMEOUT"), `${host} did not respond (TIMEOUT)`, true, [true, false]],
    [failed("unknown", "ECONNRESET"), `${host} did not respond (ECONNRESET)`, true, [true, false]],
    [failed("unknown"), `${host} did not respond`, true, [true, false]],
    [failed("unknown", "CLOSED"), `the client of ${host} was closed (CLOSED)`, undefined, [false, false]],
    [failed("not-sent", openCode), `${host} is unavailable, and the circuit is open (${openCode})`, undefined, [
      false,
      false
    ]],
    [
      failed("not-sent", unclaimedCode),
      `nothing was sent to ${host}, because that could not be written down first (${unclaimedCode})`,
      undefined,
      [false, false]
    ],
    [failed("unknown", bodyFailed), `the stream in the request to ${host} failed (${bodyFailed})`, undefined, [
      false,
      false
    ]]
  ]
  for (const [error, problem, outage, again] of rows) {
    it(problem, () => {
      assert.strictEqual(error.message, `deleteEventStream: ${problem}`)
      assert.strictEqual(failureShowsOutage(error), outage)
      assert.deepStrictEqual(
        [deleteEventStream, redeliverEvent].map(({ endpoint }) => canRetryFailure(endpoint, error)),
        [...again]
      )
    })
  }

  it("for lack of a token or a permit says nothing of the service, and is not retried", () => {
    const operation = "deleteEventStream"
    for (
      const error of [
        new TokenError({ operation, message: "no token" }),
        new RateLimited({ operation, message: "no permit" })
      ]
    ) {
      assert.isUndefined(failureShowsOutage(error))
      assert.isFalse(canRetryFailure(deleteEventStream.endpoint, error))
    }
  })
})

/** What the failure of one attempt says: its message, and what it tells the retries, the budget and the circuit of the client. */
import { assert, describe, it } from "@effect/vitest"
import { RateLimited, TokenError, type TransportError } from "../../src/Errors.js"
import { deleteEventStream, redeliverEvent } from "../../src/index.js"
import { Circuit, openCode } from "../../src/internal/call/circuit.js"
import { unclaimedCode } from "../../src/internal/call/claim.js"
import { canRetryFailure, failureShowsOutage } from "../../src/internal/call/retryPolicy.js"
import { transportError } from "../../src/internal/call/transportError.js"
import { bodyFailed } from "../../src/internal/http/rawExchange.js"
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

describe("a circuit that is open", () => {
  const opened = () => {
    const circuit = new Circuit({ failures: 2, delay: 1000, maxDelay: 3000 })
    const entered = [0, 0, 0].map((now) => circuit.enter(now) ?? -1)
    for (const each of entered.slice(0, 2)) circuit.attemptEnded(each, true, 0)
    return { circuit, before: entered[2] ?? -1 }
  }

  it("lets one attempt through after each delay, though that attempt never ends", () => {
    const { circuit } = opened()
    const isLetThrough = (now: number) => circuit.enter(now) !== undefined
    assert.deepStrictEqual([999, 1000, 1001, 1999, 2000, 2001].map(isLetThrough), [
      false,
      true,
      false,
      false,
      true,
      false
    ])
  })

  it("learns nothing from an attempt that began before", () => {
    const { before, circuit } = opened()
    assert.isFalse(circuit.attemptEnded(before, false, 500))
    assert.isTrue(circuit.isOpen)
    const next = circuit.enter(1000) ?? -1
    assert.isFalse(circuit.attemptEnded(before, true, 1500)) // nor does that keep it open for longer
    assert.isTrue(circuit.attemptEnded(next, false, 1600))
    assert.isFalse(circuit.isOpen)
  })

  it("doubles its delay up to a bound", () => {
    const { circuit } = opened()
    let now = 0
    const delays = Array.from({ length: 4 }, () => {
      const from = now
      let entered: number | undefined
      while ((entered = circuit.enter(now)) === undefined && now < 100_000) now += 500
      circuit.attemptEnded(entered ?? -1, true, now)
      return now - from
    })
    assert.deepStrictEqual(delays, [1000, 2000, 3000, 3000])
  })
})

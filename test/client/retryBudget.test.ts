/** The rules of the retry budget alone. `outage.test.ts` has what they do to calls. */
import { assert, describe, it } from "vitest"
import { RetryBudget } from "../../src/internal/call/retryBudget.js"

/** A budget in an outage, with no retry left at 0. */
const inOutage = (share: number) => {
  const budget = new RetryBudget(share)
  for (let nth = 0; nth < 50; nth++) budget.attemptEnded(true)
  while (budget.take(0));
  return budget
}

describe("a retry budget", () => {
  it("allows ten retries at once, one more in each second, and its share of the calls", () => {
    const budget = inOutage(0.25)
    assert.isFalse(budget.take(999))
    assert.deepStrictEqual([budget.take(1000), budget.take(1000)], [true, false])
    for (let call = 0; call < 4; call++) budget.callStarted()
    assert.deepStrictEqual([budget.take(1000), budget.take(1000)], [true, false])
    assert.deepStrictEqual(Array.from({ length: 11 }, () => budget.take(3_600_000)), [
      ...Array.from({ length: 10 }, () => true),
      false
    ])
  })

  it("allows all retries unless fifty attempts in a row have failed", () => {
    const budget = new RetryBudget(0)
    for (let nth = 0; nth < 49; nth++) budget.attemptEnded(true)
    assert.isTrue(Array.from({ length: 100 }, () => budget.take(0)).every((isAllowed) => isAllowed))
    budget.attemptEnded(false)
    for (let nth = 0; nth < 49; nth++) budget.attemptEnded(true)
    assert.isTrue(budget.take(0))
    budget.attemptEnded(true)
    assert.isFalse(budget.take(0))
  })

  it("warns once in an outage, and at most once a minute", () => {
    const budget = new RetryBudget(0)
    assert.deepStrictEqual([budget.shouldWarn(0), budget.shouldWarn(0)], [true, false])
    assert.isFalse(budget.shouldWarn(3_600_000))
    budget.attemptEnded(false)
    assert.isTrue(budget.shouldWarn(3_600_000))
    budget.attemptEnded(false)
    assert.isFalse(budget.shouldWarn(3_659_000))
    assert.isTrue(budget.shouldWarn(3_660_000))
  })
})

/** Tests of the order in which waiting calls start. */
import { assert, describe, it } from "vitest"
import type { LimitStrategy, Waiter } from "../../src/internal/limiter/strategy.js"
import { givesWay, startsBefore } from "../../src/internal/limiter/waitingCalls.js"

interface State {
  readonly limits: ReadonlyArray<object>
  readonly isFirst: boolean
}

const shared = {}

const call = (nth: number, isBackground: boolean, limits = [shared], isFirst = false): Waiter<State> => ({
  state: { limits, isFirst },
  nth,
  since: 0,
  isBackground,
  share: 0
})

/** In the order of start. */
const calls = [
  call(6, false, [], true),
  call(5, true, [], true),
  call(2, false),
  call(3, false),
  call(0, true),
  call(1, true)
]

describe("the order of start", () => {
  it("is first that of calls that show their bucket, then foreground before background, then that of arrival", () => {
    for (const [place, one] of calls.entries()) {
      assert.deepStrictEqual(
        calls.map((other) => startsBefore(one, other)),
        calls.map((_, otherPlace) => place < otherPlace)
      )
    }
  })
})

describe("a call that may start", () => {
  /** Asks whether it gives way to one that waits for a second, and for longer if another starts below the limit of both. */
  const gives = (one: Waiter<State>, other: Waiter<State>, wait = 1000, after = 1001) => {
    const strategy: Pick<LimitStrategy<State, never>, "limitsOf" | "wait"> = {
      limitsOf: ({ limits }) => limits,
      wait: (_, __, ahead) => ({ millis: ahead(shared) > 0 ? after : wait, reason: "limit" })
    }
    return givesWay(strategy, one, other, wait, 0)
  }

  it("gives way to one that goes before it and would start later", () => {
    assert.isTrue(gives(call(2, false), call(1, false)))
    assert.isTrue(gives(call(1, true), call(2, false)))
    assert.isTrue(gives(call(2, false), call(1, false), 0, 1))
  })

  it("gives way to none that comes after it, would start no later, waits for a response, or draws on other limits", () => {
    const [older, younger] = [call(1, false), call(2, false)]
    assert.isFalse(gives(older, younger))
    assert.isFalse(gives(younger, call(1, true)))
    assert.isFalse(gives(younger, older, 1000, 1000))
    assert.isFalse(gives(younger, older, Infinity, Infinity))
    assert.isFalse(gives(call(2, false, [{}]), older))
  })
})

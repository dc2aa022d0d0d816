/** Tests of the order in which waiting calls start. */
import { assert, describe, it } from "vitest"
import { givesWay, startsBefore, type WaitingCall } from "../../src/internal/limiter/waitingCall.js"

interface State {
  readonly isFirst: boolean
}

const call = (nth: number, isBackground: boolean, isFirst: boolean): WaitingCall<State> => ({
  state: { isFirst },
  nth,
  since: 0,
  isBackground
})

/** In the order of start. */
const calls = [
  call(6, false, true),
  call(7, false, true),
  call(4, true, true),
  call(5, true, true),
  call(2, false, false),
  call(3, false, false),
  call(0, true, false),
  call(1, true, false)
]

describe("the order of start", () => {
  it("is first that of calls that show their bucket, then foreground before background, then that of arrival", () => {
    const isFirst = (state: State) => state.isFirst
    for (const [place, one] of calls.entries()) {
      assert.deepStrictEqual(
        calls.map((other) => startsBefore({ isFirst }, one, other)),
        calls.map((_, otherPlace) => place < otherPlace)
      )
    }
  })
})

describe("a call that may start", () => {
  /** Asks whether it gives way to one that waits for a second, and for longer if it starts. */
  const gives = (one: WaitingCall<State>, other: WaitingCall<State>, wait = 1000, after = 1001) =>
    givesWay({ isFirst: ({ isFirst }) => isFirst, waitAfter: () => after }, one, other, wait, 0, 0, 0)

  it("gives way to one that goes before it and would start later", () => {
    assert.isTrue(gives(call(2, false, false), call(1, false, false)))
    assert.isTrue(gives(call(1, false, false), call(2, false, true)))
    assert.isTrue(gives(call(1, true, false), call(2, false, false)))
  })

  it("gives way to none that comes after it, would start no later, or waits for a response", () => {
    const [older, younger] = [call(1, false, false), call(2, false, false)]
    assert.isFalse(gives(older, younger))
    assert.isFalse(gives(younger, call(1, true, false)))
    assert.isFalse(gives(younger, older, 0, 0))
    assert.isTrue(gives(younger, older, 0, 1))
    assert.isFalse(gives(younger, older, 1000, 1000))
    assert.isFalse(gives(younger, older, Infinity, Infinity))
    // The other waits for a limit that the two do not share.
    assert.isFalse(gives(younger, older, 1000, Infinity))
    assert.isTrue(gives(younger, older, 100, Infinity))
  })
})

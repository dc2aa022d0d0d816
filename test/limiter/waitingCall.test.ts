/** Tests of the order in which waiting calls start. */
import { assert, describe, it } from "vitest"
import { startsBefore, type WaitingCall } from "../../src/internal/limiter/waitingCall.js"

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

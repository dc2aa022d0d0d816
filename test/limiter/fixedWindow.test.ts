import { assert, describe, it } from "vitest"
import * as FixedWindow from "../../src/internal/limiter/estimator/fixedWindow.js"

const start = 1_000_000

/** Notes a response `after` seconds. The server's clock equals the local one. */
const note = (
  window: FixedWindow.FixedWindowState,
  after: number,
  reset: number,
  left: number,
  isRateLimited = false
) =>
  FixedWindow.note(
    window,
    { reset, ahead: reset - 1000 - after, limit: 100, left },
    isRateLimited,
    start + after * 1000
  )

/** A window that was found: seventy calls of a hundred were taken, and the reset did not move. */
const found = () => {
  const window = new FixedWindow.FixedWindowState()
  note(window, 0, 1060, 99)
  note(window, 10, 1060, 30)
  return window
}

describe("a fixed window", () => {
  it("is found where calls are taken and the reset stays, and ends with the reset", () => {
    assert.deepInclude(found(), { isFound: true, endsAt: start + 61_000 })
  })

  it("is not found where a bucket could send the same", () => {
    const window = new FixedWindow.FixedWindowState()
    note(window, 0, 1012, 90) // at least a second for a call
    note(window, 3, 1012, 89) // at least a call in a second
    assert.isFalse(window.isFound)
    note(window, 4, 1012, 89)
    assert.isTrue(window.isFound)
  })

  it("is forgotten when the reset moves and nothing has come back", () => {
    const window = found()
    note(window, 15, 1070, 30)
    assert.isFalse(window.isFound)
    // What was learned before is gone: these responses could be those of a bucket.
    note(window, 18, 1073, 28)
    assert.isFalse(window.isFound)
  })

  it("is forgotten when the reset goes back", () => {
    const window = found()
    note(window, 10, 1040, 80)
    assert.isFalse(window.isFound)
  })

  it("goes on with a new reset, and ignores late responses of the window before", () => {
    const window = found()
    note(window, 60, 1120, 98)
    assert.deepInclude(window, { isFound: true, endsAt: start + 121_000 })
    note(window, 62, 1119, 96) // late by a second, or rounded
    assert.deepInclude(window, { isFound: true, endsAt: start + 121_000 })
  })

  it("is extended by a second by each refusal after its end", () => {
    const window = found()
    FixedWindow.refuse(window, start)
    assert.strictEqual(window.endsAt, start + 61_000, "it never ends before its reset")
    for (const after of [61_000, 62_000]) {
      FixedWindow.refuse(window, start + after)
      assert.strictEqual(window.endsAt, start + after + 1000)
    }
  })

  it("learns from a refusal its end, and nothing else", () => {
    const window = found()
    for (const reset of [1070, 1075]) {
      note(window, 20, reset, 0, true)
      assert.deepInclude(window, { isFound: true, endsAt: start + (reset - 1000 + 1) * 1000 })
      assert.strictEqual(FixedWindow.lengthOf(window), (reset - 1000 + 1 - 20) * 1000)
    }
    const other = new FixedWindow.FixedWindowState()
    note(other, 0, 1060, 99)
    note(other, 10, 1060, 0, true)
    assert.isFalse(other.isFound)
  })

  it("moves with a clock that is set back", () => {
    const [window, other] = [found(), found()]
    const back = 3_600_000
    FixedWindow.shift(window, back)
    assert.strictEqual(window.endsAt, other.endsAt - back)
    assert.strictEqual(FixedWindow.lengthOf(window), FixedWindow.lengthOf(other))
  })
})

/** Tests the streams of a process: questions on them, and the width and colours of a terminal. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { PassThrough } from "node:stream"
import { ask, outputOf } from "../../src/cli/streams.js"

/** The streams of a terminal, with the modes that have been set and what has been written. */
const makeTerminal = () => {
  const modes: Array<boolean> = []
  const terminal = { isTTY: true, setRawMode: (mode: boolean) => void modes.push(mode) }
  const input = Object.assign(new PassThrough(), terminal)
  const output = Object.assign(new PassThrough(), terminal)
  return { input, output, modes, written: () => String(output.read() ?? "") }
}

const isInterrupted = Exit.match({
  onSuccess: () => false,
  onFailure: (cause: Cause.Cause<unknown>) => Cause.isInterruptedOnly(cause)
})

describe("a question", () => {
  it.live("gives the line that replies, leaves the terminal in its mode, and reads no further", () =>
    Effect.gen(function*() {
      const { input, modes, output, written } = makeTerminal()
      input.write("yes\nno\n")
      assert.strictEqual(yield* ask(input, output, "Go on? "), "yes")
      assert.strictEqual(written(), "Go on? ")
      assert.deepStrictEqual(modes, [])
      assert.isTrue(input.isPaused())
    }))

  it.live("interrupts if the input ends without a reply", () =>
    Effect.gen(function*() {
      const { input, output, written } = makeTerminal()
      input.end()
      assert.isTrue(isInterrupted(yield* Effect.exit(ask(input, output, "Go on? "))))
      assert.strictEqual(written(), "Go on? \n")
    }))

  it.live("reads no further after an interruption, and ends its line", () =>
    Effect.gen(function*() {
      const { input, output, written } = makeTerminal()
      const asking = yield* Effect.fork(ask(input, output, "Go on? "))
      yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => output.readableLength > 0 })
      assert.isFalse(input.isPaused())
      yield* Fiber.interrupt(asking)
      assert.isTrue(isInterrupted(yield* Fiber.await(asking)))
      assert.isTrue(input.isPaused())
      assert.strictEqual(written(), "Go on? \n")
    }))
})

describe("an output", () => {
  it("has the width of its terminal, or 80 columns if that is not known", () => {
    for (const [columns, expected] of [[120, 120], [0, 80], [undefined, 80]] as const) {
      assert.strictEqual(outputOf({ isTTY: true, ...(columns !== undefined && { columns }) }, false).columns, expected)
    }
  })

  it("has colours if it is a terminal, unless they are switched off", () => {
    assert.deepInclude(outputOf({ isTTY: true }, false), { isTerminal: true, colours: true })
    assert.deepInclude(outputOf({ isTTY: true }, true), { isTerminal: true, colours: false })
    assert.deepInclude(outputOf({}, false), { isTerminal: false, colours: false })
  })
})

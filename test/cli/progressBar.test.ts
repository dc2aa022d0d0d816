/** Tests the progress of a run: a bar on a terminal, plain lines elsewhere. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as ProgressBar from "../../src/cli/shared/progressBar.js"
import * as VirtualTime from "../support/virtualTime.js"
import { start, terminal } from "./support/record.js"

const clear = "\r\u001b[K"

/** What is written while a status is shown for some time. */
const shown = (status: ProgressBar.Status, time: Duration.DurationInput, columns?: number) =>
  VirtualTime.run(
    Effect.gen(function*() {
      const show = Effect.scoped(Effect.zipRight(ProgressBar.show(Effect.succeed(status)), Effect.sleep(time)))
      const { ended } = yield* start(show, columns === undefined ? {} : { errorOutput: terminal(columns) })
      return yield* ended
    }),
    { most: "1 hours" }
  )

describe("the progress", () => {
  const bars = [
    [
      "is a bar of 24 columns before the text",
      { done: 1, total: 4 },
      "1 of 4",
      80,
      `${"█".repeat(6)}${"░".repeat(18)} 1 of 4`
    ],
    ["is full at the end, and not longer", { done: 5, total: 4 }, "5 of 4", 80, `${"█".repeat(24)} 5 of 4`],
    ["is empty while the total is unknown", { done: 5, total: undefined }, "5", 80, `${"░".repeat(24)} 5`],
    ["is empty if there is nothing to do", { done: 0, total: 0 }, "0 of 0", 80, `${"░".repeat(24)} 0 of 0`],
    ["is shorter where the line is short", { done: 1, total: 2 }, "abcdef", 11, "█░░ abcdef"],
    ["is the text alone without room for a bar", { done: 1, total: 2 }, "abcdef", 8, "abcdef"],
    ["is the begin of a text that is too long", { done: 1, total: 2 }, "abcdef", 6, "abcde"]
  ] as const
  for (const [title, status, text, columns, bar] of bars) {
    it.effect(`${title}, and is removed`, () =>
      Effect.map(
        shown({ ...status, text }, "250 millis", columns),
        (ran) => assert.deepStrictEqual(ran, { code: 0, stdout: "", stderr: `${clear}${bar}${clear}${bar}${clear}` })
      ))
  }

  it.effect("is a line each five seconds without a terminal", () =>
    Effect.map(
      shown({ done: 1, total: 4, text: "1 of 4" }, "14 seconds"),
      (ran) => assert.deepStrictEqual(ran, { code: 0, stdout: "", stderr: "1 of 4\n1 of 4\n" })
    ))

  it.effect("makes room for a line of text on a terminal, and confirms Ctrl-C on a line of its own", () =>
    Effect.gen(function*() {
      for (const [errorOutput, drawn] of [[{ errorOutput: terminal(80) }, clear], [{}, ""]] as const) {
        const asked: Array<Effect.Effect<void>> = []
        const { ended } = yield* start(
          Effect.scoped(Effect.zipRight(ProgressBar.clearLine, ProgressBar.confirmInterrupt)),
          {
            ...errorOutput,
            onInterrupt: (effect) => Effect.zipRight(Effect.sync(() => void asked.push(effect)), effect)
          }
        )
        const { stderr } = yield* ended
        assert.strictEqual(
          stderr,
          `${drawn}${drawn}Waiting up to 5 s for running calls; press Ctrl-C again to abort them\n`
        )
        assert.lengthOf(asked, 1)
      }
    }))
})

describe("a time", () => {
  it("is rounded up to seconds", () => {
    const times = ["0 seconds", "1 millis", "1 seconds", "90 seconds", "2 hours"] as const
    assert.deepStrictEqual(
      times.map((time) => ProgressBar.formatTime(Duration.decode(time))),
      ["0s", "1s", "1s", "1m 30s", "2h"]
    )
  })

  it("is a question mark if it is unknown", () => {
    assert.strictEqual(ProgressBar.formatTime(undefined), "?")
  })
})

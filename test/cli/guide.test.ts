/** Tests that the guide to the command line shows every command, and its screens as they are. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { catalog } from "../../src/cli/catalog.js"
import { guide } from "../support/documentation.js"
import { plain, screenOf } from "./support/screens.js"

const screens = [...guide("command-line").matchAll(/^```\n(\$ effect-identity-client[^]*?)^```$/gm)]
  .flatMap(([, screen = ""]) => screen)

describe("the guide to the command line", () => {
  it("shows the help of each command, and what most of them print, in 80 columns", () => {
    const commands = screens.map((screen) => screen.split("\n")[0]?.replace(/^\$ effect-identity-client ?/, "") ?? "")
    assert.includeMembers(commands, ["--help", ...Object.keys(catalog).map((name) => `${name} --help`)])
    for (const name of Object.keys(catalog).filter((name) => name !== "generate")) {
      assert.isTrue(commands.some((line) => line.split(" ")[0] === name && !line.endsWith("--help")), name)
    }
    for (const line of screens.flatMap((screen) => screen.split("\n").slice(1))) {
      assert.isAtMost([...line].length, 80, line)
    }
  })

  it("shows no redelivery that ends before its events can count as delivered", () => {
    const times = screens.flatMap((screen) => {
      const [, seconds] = /--delivered-after (\d+)/.exec(screen.split("\n")[0] ?? "") ?? []
      return seconds === undefined ? [] : [[Number(seconds), Number(/events? in (\d+)s$/m.exec(screen)?.[1])] as const]
    })
    assert.isNotEmpty(times)
    for (const [deliveredAfter, time] of times) assert.isAbove(time, deliveredAfter)
  })

  for (const screen of screens) {
    const [line = ""] = screen.split("\n")
    it.live(`shows the screen of ${line}`, () =>
      Effect.map(screenOf(line), (actual) => assert.strictEqual(actual, plain(screen))))
  }
})

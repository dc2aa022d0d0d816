/** Asks whether to go on. */
import * as Terminal from "@effect/platform/Terminal"
import * as Effect from "effect/Effect"
import { WrongUsage } from "./exit.js"
import { Stdio } from "./stdio.js"
import { bold } from "./text.js"

/** Asks on a terminal, and succeeds with the reply. Elsewhere nobody can reply: it fails, unless `yes` has been given. */
export const confirm = (question: string, yes: boolean) =>
  Effect.gen(function*() {
    if (yes) return true
    const { draw, errorOutput, inputIsTerminal } = yield* Stdio
    if (!inputIsTerminal || !errorOutput.isTerminal) {
      return yield* new WrongUsage({ message: "Nobody can be asked without a terminal: check, and add --yes." })
    }
    const terminal = yield* Terminal.Terminal
    const text = `${question} [y/N] `
    yield* draw(errorOutput.colours ? bold(text) : text)
    const reply = yield* Effect.catchTag(terminal.readLine, "QuitException", () => Effect.interrupt)
    return /^y(?:es)?$/i.test(reply.trim())
  })

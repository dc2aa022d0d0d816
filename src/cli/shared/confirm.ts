/** Asks whether to go on. */
import * as Effect from "effect/Effect"
import { WrongUsage } from "./exit.js"
import { Stdio } from "./stdio.js"
import { bold } from "./text.js"

/** Asks on a terminal, and succeeds with the reply. Elsewhere nobody can reply: it fails, unless `yes` has been given. */
export const confirm = (question: string, yes: boolean) =>
  Effect.gen(function*() {
    if (yes) return true
    const { ask, errorOutput, inputIsTerminal } = yield* Stdio
    if (!inputIsTerminal || !errorOutput.isTerminal) {
      return yield* new WrongUsage({ message: "Nobody can be asked without a terminal: check, and add --yes." })
    }
    const text = `${question} [y/N] `
    const reply = yield* ask(errorOutput.colours ? bold(text) : text)
    return /^y(?:es)?$/i.test(reply.trim())
  })

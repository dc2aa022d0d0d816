/** Describes the streams of a process, and asks on them. */
import * as Effect from "effect/Effect"
import { createInterface } from "node:readline"
import type { WriteStream } from "node:tty"
import type { Output } from "./shared/stdio.js"

/** Describes a stream. Some terminals do not know their width, and say that it is 0. */
export const outputOf = ({ columns, isTTY }: Partial<WriteStream>, isPlain: boolean): Output => ({
  isTerminal: isTTY === true,
  colours: isTTY === true && !isPlain,
  columns: columns || 80
})

/** Asks, and gives the line that replies. The end of the input interrupts, as Ctrl-C does. */
export const ask = (
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  question: string
): Effect.Effect<string> =>
  Effect.async((resume) => {
    // In raw mode, which `terminal` sets, the terminal would not edit the line, and Ctrl-C would be a character of it.
    const lines = createInterface({ input, output, terminal: false })
    const quit = () => {
      output.write("\n")
      resume(Effect.interrupt)
    }
    lines.once("close", quit)
    lines.question(question, (reply) => {
      lines.off("close", quit)
      lines.close()
      resume(Effect.succeed(reply))
    })
    return Effect.sync(() => lines.close())
  })

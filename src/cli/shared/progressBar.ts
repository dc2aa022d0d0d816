/** The progress of a run: a bar on a terminal, plain lines elsewhere. */
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { Stdio } from "./stdio.js"

/** The state of a run, and a line on it. */
export interface Status {
  readonly done: number
  readonly total: number | undefined
  readonly text: string
}

const clear = "\r\u001b[K"

/** A bar, if the line has room for it, and the status. */
const bar = ({ done, text, total }: Status, columns: number): string => {
  const width = Math.max(0, Math.min(24, columns - text.length - 1))
  const filled = total === undefined || total === 0 ? 0 : Math.floor(width * Math.min(1, done / total))
  return `${"█".repeat(filled)}${"░".repeat(width - filled)} ${text}`.trimStart().slice(0, columns)
}

/** Shows the status until the scope closes: redrawn on a terminal, elsewhere a line every 5 seconds. */
export const show = <E, R>(status: Effect.Effect<Status, E, R>): Effect.Effect<void, never, R | Scope | Stdio> =>
  Effect.gen(function*() {
    const { draw, errorOutput: { columns, isTerminal } } = yield* Stdio
    const print = isTerminal
      ? Effect.flatMap(status, (now) => draw(`${clear}${bar(now, columns - 1)}`))
      : Effect.flatMap(status, ({ text }) => Console.error(text))
    yield* Effect.forkScoped(Effect.forever(Effect.delay(print, isTerminal ? "100 millis" : "5 seconds")))
    if (isTerminal) yield* Effect.addFinalizer(() => draw(clear))
  })

/** Removes the bar, which is drawn anew soon, so that a line of text can take its place. */
export const clearLine: Effect.Effect<void, never, Stdio> = Effect.flatMap(
  Stdio,
  ({ draw, errorOutput: { isTerminal } }) => isTerminal ? draw(clear) : Effect.void
)

/** Confirms Ctrl-C at once, because running calls may take seconds to end. */
export const confirmInterrupt: Effect.Effect<void, never, Scope | Stdio> = Effect.flatMap(
  Stdio,
  ({ draw, errorOutput: { isTerminal }, onInterrupt }) =>
    onInterrupt(
      draw(`${isTerminal ? clear : ""}Waiting up to 5 s for running calls; press Ctrl-C again to abort them\n`)
    )
)

export const formatTime = (duration: Duration.Duration | undefined): string =>
  duration === undefined
    ? "?"
    : Duration.format(Duration.seconds(Math.ceil(Duration.toSeconds(duration)))).replace(/^0$/, "0s")

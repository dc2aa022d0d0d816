/** Runs parts of the command with streams that record what they write. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { exiting } from "../../../src/cli/invoke.js"
import { type Output, Stdio } from "../../../src/cli/shared/stdio.js"
import { withoutColours } from "../../../src/cli/shared/text.js"
import type { Ran } from "./run.js"

type Streams = Context.Tag.Service<typeof Stdio>

/** An output that is a terminal without colours. */
export const terminal = (columns: number): Output => ({ isTerminal: true, colours: false, columns })

/** An output that is a file or a pipe. */
export const pipe: Output = { isTerminal: false, colours: false, columns: 80 }

/** Starts an effect as a command is run; a failure ends it with its exit code. */
export const start = <R>(effect: Effect.Effect<void, unknown, R>, streams: Partial<Streams> = {}) =>
  Effect.gen(function*() {
    const [stdout, stderr]: [Array<string>, Array<string>] = [[], []]
    const real = yield* Effect.console
    const print = (to: Array<string>) => (...texts: ReadonlyArray<unknown>) =>
      Effect.sync(() => void to.push(`${texts.map(String).join(" ")}\n`))
    const fiber = yield* Effect.fork(
      Effect.withConsole(withoutColours(exiting(effect, "Usage: of the command")), {
        ...real,
        log: print(stdout),
        error: print(stderr)
      }).pipe(
        Effect.provideService(Stdio, {
          input: Stream.empty,
          inputIsTerminal: false,
          output: pipe,
          errorOutput: pipe,
          draw: (text) => Effect.sync(() => void stderr.push(text)),
          ask: () => Effect.interrupt,
          onInterrupt: () => Effect.void,
          ...streams
        }),
        // Warnings would come between the results of the tests.
        Logger.withMinimumLogLevel(LogLevel.None)
      )
    )
    const written = () => ({ stdout: stdout.join(""), stderr: stderr.join("") })
    const ended: Effect.Effect<Ran> = Effect.map(Fiber.await(fiber), (exit) => ({
      code: Exit.match(exit, {
        onSuccess: () => 0,
        onFailure: (cause) =>
          Option.match(Cause.failureOption(cause), {
            onNone: () => Cause.isInterruptedOnly(cause) ? 130 : 1,
            onSome: ({ code }) => code
          })
      }),
      ...written()
    }))
    return { written, ended, interrupted: Effect.zipRight(Fiber.interrupt(fiber), ended) }
  })

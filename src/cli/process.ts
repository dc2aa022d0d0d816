/** Runs a command in this process, with its streams, signals and exit code. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import type { Environment } from "./shared/definition.js"
import { Exited } from "./shared/exit.js"
import { Stdio } from "./shared/stdio.js"
import { ask, outputOf } from "./streams.js"

const noColour = Effect.orElseSucceed(Config.option(Config.nonEmptyString("NO_COLOR")), Option.none)

const StdioLive = Layer.effect(
  Stdio,
  Effect.map(Effect.map(noColour, Option.isSome), (isPlain) => ({
    input: NodeStream.stdin,
    inputIsTerminal: process.stdin.isTTY,
    output: outputOf(process.stdout, isPlain),
    errorOutput: outputOf(process.stderr, isPlain),
    draw: (text: string) => Effect.sync(() => void process.stderr.write(text)),
    ask: (question: string) => ask(process.stdin, process.stderr, question),
    onInterrupt: (effect: Effect.Effect<void>) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const run = () => Effect.runSync(effect)
          process.once("SIGINT", run)
          return run
        }),
        (run) => Effect.sync(() => process.off("SIGINT", run))
      )
  }))
)

/** Logs go to the standard error output, because the standard output belongs to the command. */
const LoggerLive = Layer.unwrapEffect(
  Effect.map(
    Stdio,
    ({ errorOutput: { colours } }) =>
      Logger.replace(Logger.defaultLogger, Logger.prettyLogger({ stderr: true, colors: colours, mode: "tty" }))
  )
)

const codeOf = <E, A>(exit: Exit.Exit<E, A>): number =>
  Exit.match(exit, {
    onSuccess: () => 0,
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.isInterruptedOnly(cause) ? 130 : 1,
        onSome: (failure) => failure instanceof Exited ? failure.code : 1
      })
  })

export const runInProcess = (command: Effect.Effect<void, Exited, Environment>): void =>
  command.pipe(
    Effect.provide(Layer.mergeAll(
      Layer.provideMerge(LoggerLive, StdioLive),
      NodeFileSystem.layer,
      NodePath.layer,
      NodeTerminal.layer
    )),
    NodeRuntime.runMain({
      disableErrorReporting: true,
      disablePrettyLogger: true,
      teardown: (exit, onExit) => onExit(codeOf(exit))
    })
  )

/** Runs the command in this process, with streams that record what it writes. */
import { HttpServer } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import {
  ConfigProvider,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  LogLevel,
  Option,
  Redacted,
  Stream
} from "effect"
import * as Cause from "effect/Cause"
import { catalog } from "../../../src/cli/catalog.js"
import { command } from "../../../src/cli/command.js"
import { type Output, Stdio } from "../../../src/cli/shared/stdio.js"
import * as Tenant from "../../../src/Tenant.js"

// Commands load modules when they run. Here they are loaded before the first test, so that none of the tests waits for them.
await Promise.all([
  ...Object.values(catalog).map(({ load }) => Effect.runPromise(load)),
  import("../../../src/generate/run.js")
])

interface Settings {
  /** Text on the standard input. */
  readonly input?: string | Stream.Stream<never>
  /** All streams are terminals, and this is typed after a question. */
  readonly reply?: string
  /** Both outputs are terminals with colours, of this width. */
  readonly columns?: number
  /** Variables beside those of a client of the tenant; `""` removes one. */
  readonly variables?: Readonly<Record<string, string>>
  /** Interrupts the command, as Ctrl-C does, once it has printed this. */
  readonly interruptAfter?: string
  /** Called with everything that is written, to both outputs. */
  readonly onWrite?: (text: string) => void
  /** Called with everything that is drawn, which is on the standard error output. */
  readonly onDraw?: (text: string) => void
  /** Interrupts the command once this holds. */
  readonly interruptWhen?: Effect.Effect<boolean>
  /** Called before the interruption with what has been written. */
  readonly beforeInterrupt?: (stdout: string) => Effect.Effect<void>
}

/** What a command wrote, and its exit code. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Waits until this holds. */
export const until = (holds: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.asVoid(Effect.repeat(Effect.delay(holds, "5 millis"), { until: (is) => is }))

const codeOf = (exit: Exit.Exit<void, { readonly code: number }>): number =>
  Exit.match(exit, {
    onSuccess: () => 0,
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.isInterruptedOnly(cause) ? 130 : 1,
        onSome: ({ code }) => code
      })
  })

/** Runs the command against what the variables say, which by default is nothing. */
export const runAlone = (args: ReadonlyArray<string>, settings: Settings = {}): Effect.Effect<Ran> =>
  Effect.gen(function*() {
    const [stdout, stderr]: [Array<string>, Array<string>] = [[], []]
    const real = yield* Effect.console
    const interrupted = yield* Deferred.make<void>()
    let onInterrupt: Effect.Effect<void> = Effect.void
    const print = (to: Array<string>) => (...texts: ReadonlyArray<unknown>) =>
      Effect.suspend(() => {
        const text = `${texts.map(String).join(" ")}\n`
        to.push(text)
        settings.onWrite?.(text)
        const isLast = settings.interruptAfter !== undefined && text.includes(settings.interruptAfter)
        return isLast ? Deferred.succeed(interrupted, undefined) : Effect.void
      })
    const isTerminal = settings.reply !== undefined || settings.columns !== undefined
    const output: Output = { isTerminal, colours: settings.columns !== undefined, columns: settings.columns ?? 80 }
    const stdio = Layer.succeed(Stdio, {
      input: typeof settings.input === "object"
        ? settings.input
        : Stream.make(new TextEncoder().encode(settings.input ?? "")),
      inputIsTerminal: settings.reply !== undefined,
      output,
      errorOutput: output,
      draw: (text: string) =>
        Effect.sync(() => {
          stderr.push(text)
          settings.onDraw?.(text)
        }),
      ask: (question: string) =>
        Effect.suspend(() => {
          stderr.push(question)
          return settings.reply === "^C" ? Effect.interrupt : Effect.succeed(settings.reply ?? "")
        }),
      onInterrupt: (effect) =>
        Effect.sync(() => {
          onInterrupt = effect
        })
    })
    const fiber = yield* Effect.fork(
      Effect.withConsole(command(args), { ...real, log: print(stdout), error: print(stderr) }).pipe(
        Effect.provide(Layer.merge(stdio, NodeContext.layer)),
        // Warnings would come between the results of the tests.
        Logger.withMinimumLogLevel(LogLevel.None),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(settings.variables ?? {}))))
      )
    )
    yield* Effect.forkDaemon(
      (settings.interruptWhen === undefined ? Deferred.await(interrupted) : until(settings.interruptWhen)).pipe(
        Effect.zipRight(Effect.suspend(() => settings.beforeInterrupt?.(stdout.join("")) ?? Effect.void)),
        Effect.zipRight(Effect.suspend(() => onInterrupt)),
        Effect.zipRight(Fiber.interrupt(fiber))
      )
    )
    const exit = yield* Fiber.await(fiber)
    return { code: codeOf(exit), stdout: stdout.join(""), stderr: stderr.join("") }
  })

/** Runs the command against a tenant on a socket. */
export const run = (args: ReadonlyArray<string>, settings: Settings = {}) =>
  HttpServer.addressFormattedWith((origin) =>
    runAlone(args, {
      ...settings,
      variables: {
        IDENTITY_BASE_URL: `${origin}/api/v2`,
        IDENTITY_AUTH_URL: origin,
        IDENTITY_CLIENT_ID: Tenant.demoClients.full.id,
        IDENTITY_CLIENT_SECRET: Redacted.value(Tenant.demoClients.full.secret),
        ...settings.variables
      }
    })
  )

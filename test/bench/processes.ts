/**
 * Processes that run programs of a benchmark and are asked questions. The programs are bundled first: loaded module by
 * module, thirty of them would need a minute of two processors' time to start; each bundle loads in a quarter of a second.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Mailbox from "effect/Mailbox"
import * as ESBuild from "esbuild"
import type { Plugin } from "esbuild"
import * as ChildProcess from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A running process. It sends `First` when it is ready, then answers each `Question` with an `Answer`. */
interface Process<First, Question extends object, Answer> {
  readonly first: First
  /** Fails if the process ends before it has answered. */
  readonly ask: (question: Question) => Effect.Effect<Answer, string>
  /** Ends it at once, whatever it is about: `kill -9`. */
  readonly kill: Effect.Effect<void>
}

interface Start<Name extends string> {
  readonly program: Name
  readonly argument?: string
  readonly env?: Readonly<Record<string, string>>
  /** Flags of Node's. */
  readonly execArgv?: ReadonlyArray<string>
  /** A program that is loaded before it. */
  readonly preload?: Name
}

const fork = <Name extends string>(
  directory: string,
  { argument, env, execArgv = [], preload, program }: Start<Name>
): ChildProcess.ChildProcess => {
  const fileOf = (name: Name) => join(directory, `${name}.cjs`)
  return ChildProcess.fork(fileOf(program), argument === undefined ? [] : [argument], {
    execArgv: [...execArgv, ...(preload === undefined ? [] : ["--require", fileOf(preload)])],
    env: { ...process.env, ...env }
  })
}

const start =
  <Name extends string>(directory: string) => <First, Question extends object, Answer>(options: Start<Name>) =>
    Effect.gen(function*() {
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => fork(directory, options)),
        (child) => Effect.sync(() => void child.kill())
      )
      const first = yield* Deferred.make<First, string>()
      const answers = yield* Mailbox.make<Answer, string>()
      const ended = Exit.fail(`the process of ${options.program} has ended`)
      child.once("message", (message: First) => {
        Deferred.unsafeDone(first, Effect.succeed(message))
        child.on("message", (message: Answer) => void answers.unsafeOffer(message))
      })
      child.on("exit", () => {
        Deferred.unsafeDone(first, ended)
        answers.unsafeDone(ended)
      })
      const inTurn = yield* Effect.makeSemaphore(1)
      const started: Process<First, Question, Answer> = {
        first: yield* Deferred.await(first),
        kill: Effect.sync(() => void child.kill("SIGKILL")),
        ask: (question) =>
          Effect.sync(() => void (child.connected && child.send(question))).pipe(
            Effect.zipRight(answers.take),
            Effect.catchTag("NoSuchElementException", () => ended),
            inTurn.withPermits(1)
          )
      }
      return started
    })

/** Bundles programs, whose files lie in one directory, into another, which it gives, and which goes with the scope. */
export const build = <const Name extends string>(
  directory: string,
  programs: ReadonlyArray<Name>,
  plugins: ReadonlyArray<Plugin> = []
) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "bench-"))),
    (outdir) => Effect.sync(() => rmSync(outdir, { recursive: true, force: true }))
  ).pipe(
    Effect.tap((outdir) =>
      Effect.promise(() =>
        ESBuild.build({
          entryPoints: programs.map((name) => join(directory, `${name}.ts`)),
          outdir,
          outbase: directory,
          outExtension: { ".js": ".cjs" },
          bundle: true,
          platform: "node",
          target: "node20",
          format: "cjs",
          logLevel: "error",
          plugins: [...plugins]
        })
      )
    )
  )

/** Bundles programs, and gives what starts one, whose process ends with its scope. */
export const bundle = <const Name extends string>(directory: string, programs: ReadonlyArray<Name>) =>
  Effect.map(build(directory, programs), start<Name>)

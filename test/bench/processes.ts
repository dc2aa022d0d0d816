/**
 * Runs programs of a benchmark in processes of their own, and exchanges requests and responses with them. The programs are
 * bundled first: loaded module by module, thirty of them take a minute to start; a bundle loads in a quarter of a second.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ESBuild from "esbuild"
import type { Plugin } from "esbuild"
import * as ChildProcess from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A running process. It sends `Ready` when it is ready, then responds to each `Request` with a `Response`. */
interface Process<Ready, Request extends object, Response> {
  readonly first: Ready
  /** Fails if the process ends before it responds. */
  readonly ask: (request: Request) => Effect.Effect<Response, string>
  /** Ends the process at once with SIGKILL. */
  readonly kill: Effect.Effect<void>
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits until the process has ended. */
  readonly ended: Effect.Effect<void>
}

interface Start<Name extends string> {
  readonly program: Name
  readonly argument?: string
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node. */
  readonly execArgv?: ReadonlyArray<string>
  /** A program that is loaded first, with `--require`. */
  readonly preload?: Name
  /** The Node that runs it, if it is not the one that runs the benchmark. */
  readonly execPath?: string
}

const fork = <Name extends string>(
  directory: string,
  { argument, env, execArgv = [], execPath = process.execPath, preload, program }: Start<Name>
): ChildProcess.ChildProcess => {
  const fileOf = (name: Name) => join(directory, `${name}.cjs`)
  return ChildProcess.fork(fileOf(program), argument === undefined ? [] : [argument], {
    execPath,
    execArgv: [...execArgv, ...(preload === undefined ? [] : ["--require", fileOf(preload)])],
    env: { ...process.env, ...env }
  })
}

const start =
  <Name extends string>(directory: string) => <Ready, Request extends object, Response>(options: Start<Name>) =>
    Effect.gen(function*() {
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => fork(directory, options)),
        (child) => Effect.sync(() => void child.kill())
      )
      const first = yield* Deferred.make<Ready, string>()
      let response = yield* Deferred.make<Response, string>()
      const exit = yield* Deferred.make<void>()
      const ended = Exit.fail(`the process ${options.program} has ended`)
      child.once("message", (message: Ready) => {
        Deferred.unsafeDone(first, Effect.succeed(message))
        child.on("message", (message: Response) => Deferred.unsafeDone(response, Effect.succeed(message)))
      })
      child.on("exit", () => {
        Deferred.unsafeDone(first, ended)
        Deferred.unsafeDone(response, ended)
        Deferred.unsafeDone(exit, Effect.void)
      })
      const oneAtATime = yield* Effect.makeSemaphore(1)
      const started: Process<Ready, Request, Response> = {
        first: yield* Deferred.await(first),
        kill: Effect.sync(() => void child.kill("SIGKILL")),
        signal: (signal) => Effect.sync(() => void child.kill(signal)),
        ended: Deferred.await(exit),
        ask: (request) =>
          Effect.gen(function*() {
            if (!child.connected) return yield* ended
            response = yield* Deferred.make<Response, string>()
            child.send(request)
            return yield* Deferred.await(response)
          }).pipe(oneAtATime.withPermits(1))
      }
      return started
    })

/** Bundles programs of one directory. Returns the directory with the bundles, which is removed when the scope closes. */
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

/** Bundles programs, and returns a function that starts one of them in a scoped process. */
export const bundle = <const Name extends string>(directory: string, programs: ReadonlyArray<Name>) =>
  Effect.map(build(directory, programs), start<Name>)

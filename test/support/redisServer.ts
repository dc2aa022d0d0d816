/** Starts a Redis server for a test, on a free port and without files; tests can stop, restart and suspend it. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../examples/support/freePort.js"

/** The binary of Redis or Valkey, if this machine has one. */
export const binary: string | undefined = ["redis-server", "valkey-server"].find((name) =>
  spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0
)

export interface RedisServer {
  readonly url: string
  /** Stops the server; all values are lost. */
  readonly stop: Effect.Effect<void>
  /** Starts it again on the same port. */
  readonly start: Effect.Effect<void>
  /** Suspends the server: it accepts requests and does not respond until `resume`. */
  readonly suspend: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

const launch = (port: number, directory: string, more: ReadonlyArray<string>, portName: string) =>
  Effect.async<ChildProcess, string>((resume) => {
    const settings = [
      portName,
      String(port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      directory,
      ...more
    ]
    const child = spawn(binary ?? "redis-server", settings, { stdio: ["ignore", "pipe", "ignore"] })
    let output = ""
    child.stdout.on("data", (data: Buffer) => {
      output += String(data)
      if (output.includes("eady to accept connections")) resume(Effect.succeed(child))
    })
    child.once("error", (error) => resume(Effect.fail(String(error))))
    child.once("exit", () => resume(Effect.fail(`redis-server has ended: ${output}`)))
  })

const end = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.removeAllListeners("exit")
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGCONT")
    child.kill(signal)
  })

/** Starts a server with settings of its own, which ends with the scope; `portName` is the setting that takes its port. */
export const redisServerWith = (
  more: ReadonlyArray<string>,
  portName = "--port"
): Effect.Effect<RedisServer, string, Scope.Scope> =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "redis-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    )
    const port = yield* freePort
    let child = yield* launch(port, directory, more, portName)
    yield* Effect.addFinalizer(() => Effect.suspend(() => end(child, "SIGKILL")))
    return {
      url: `redis://127.0.0.1:${port}`,
      stop: Effect.suspend(() => end(child, "SIGKILL")),
      start: Effect.orDie(Effect.map(launch(port, directory, more, portName), (started) => {
        child = started
      })),
      suspend: Effect.sync(() => void child.kill("SIGSTOP")),
      resume: Effect.sync(() => void child.kill("SIGCONT"))
    }
  })

/** Starts a server that ends with the scope. */
export const redisServer = redisServerWith([])

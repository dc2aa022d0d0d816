/** A Redis of one's own, on a free port of this machine, which keeps nothing: it can be stopped, started again and held up. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The binary, if there is one on this machine: that of Redis, or that of Valkey. */
export const binary: string | undefined = ["redis-server", "valkey-server"].find((name) =>
  spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0
)

export interface RedisServer {
  readonly url: string
  /** Ends it, with all that it holds. */
  readonly stop: Effect.Effect<void>
  /** Starts it anew, on the same port. */
  readonly start: Effect.Effect<void>
  /** From now on it takes everything and answers nothing, until `resume`. */
  readonly suspend: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

const freePort = Effect.async<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

const launch = (port: number, directory: string) =>
  Effect.async<ChildProcess, string>((resume) => {
    const settings = [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      directory
    ]
    const child = spawn(binary ?? "redis-server", settings, { stdio: ["ignore", "pipe", "ignore"] })
    let said = ""
    child.stdout.on("data", (data: Buffer) => {
      said += String(data)
      if (said.includes("eady to accept connections")) resume(Effect.succeed(child))
    })
    child.once("error", (error) => resume(Effect.fail(String(error))))
    child.once("exit", () => resume(Effect.fail(`redis-server has ended: ${said}`)))
  })

const end = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.removeAllListeners("exit")
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGCONT")
    child.kill(signal)
  })

/** Starts one that ends with the scope. */
export const redisServer: Effect.Effect<RedisServer, string, Scope.Scope> = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "redis-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
  const port = yield* freePort
  let child = yield* launch(port, directory)
  yield* Effect.addFinalizer(() => Effect.suspend(() => end(child, "SIGKILL")))
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: Effect.suspend(() => end(child, "SIGKILL")),
    start: Effect.orDie(Effect.map(launch(port, directory), (started) => {
      child = started
    })),
    suspend: Effect.sync(() => void child.kill("SIGSTOP")),
    resume: Effect.sync(() => void child.kill("SIGCONT"))
  }
})

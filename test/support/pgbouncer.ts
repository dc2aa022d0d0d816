/** Starts a PgBouncer in front of a database, on a free port, which ends with the scope. */
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../examples/support/freePort.js"

/** Debian keeps it outside of `PATH` for most users. */
const binary = ["pgbouncer", "/usr/sbin/pgbouncer"].find((file) =>
  spawnSync(file, ["--version"], { stdio: "ignore" }).status === 0
)

/** This machine has a PgBouncer. */
export const isAvailable = binary !== undefined

/** The user that runs it where the tests run as root, which it refuses. */
const owner = process.getuid?.() === 0
  ? { uid: Number(spawnSync("id", ["-u", "postgres"], { encoding: "utf8" }).stdout) }
  : {}

/** Gives the port of a PgBouncer with these settings. */
export const pgbouncer = (
  server: { readonly port: number },
  settings: Readonly<Record<string, string | number>>
): Effect.Effect<{ readonly port: number }, string, Scope.Scope> =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "pgbouncer-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    )
    const port = yield* freePort
    const all = { listen_addr: "127.0.0.1", listen_port: port, unix_socket_dir: "", auth_type: "any", ...settings }
    const file = join(directory, "pgbouncer.ini")
    writeFileSync(
      file,
      [
        "[databases]",
        `* = host=127.0.0.1 port=${server.port} user=postgres`,
        "[pgbouncer]",
        ...Object.entries(all).map(([name, value]) => `${name} = ${value}`)
      ].join("\n")
    )
    if (owner.uid !== undefined) [directory, file].forEach((path) => chownSync(path, owner.uid, -1))
    yield* Effect.acquireRelease(
      Effect.async<ChildProcess, string>((resume) => {
        const child = spawn(binary ?? "pgbouncer", [file], { ...owner, stdio: ["ignore", "ignore", "pipe"] })
        let output = ""
        child.stderr.on("data", (data: Buffer) => {
          output += String(data)
          if (output.includes("process up")) resume(Effect.succeed(child))
        })
        child.once("error", (error) => resume(Effect.fail(String(error))))
        child.once("exit", () => resume(Effect.fail(`pgbouncer has ended: ${output}`)))
      }),
      (child) => Effect.sync(() => void child.kill("SIGKILL"))
    )
    return { port }
  })

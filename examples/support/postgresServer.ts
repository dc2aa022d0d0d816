/** Starts a PostgreSQL on a free port, with a data directory of its own, and makes databases; tests can stop, restart and kill it. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Scope } from "effect"
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { accessSync, chownSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { freemem, tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "./freePort.js"

/** The user that runs the server where the tests run as root, which PostgreSQL refuses. */
const user = "postgres"

const isRoot = process.getuid?.() === 0

const runs = (file: string): boolean => spawnSync(file, ["--version"], { stdio: "ignore" }).status === 0

const folders = (): ReadonlyArray<string> => {
  try {
    return readdirSync("/usr/lib/postgresql").sort((one, other) => Number(other) - Number(one))
  } catch {
    return []
  }
}

const userIds = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (!isRoot) return {} as never // the process runs as the current user
  const id = (flag: string) => Number(spawnSync("id", [flag, user], { encoding: "utf8" }).stdout)
  const ids = { uid: id("-u"), gid: id("-g") }
  return ids.uid > 0 ? ids : undefined
}

const owner = userIds()

/** The folder of the newest PostgreSQL of this machine, with a slash; empty if its commands are in `PATH`. */
const binaries: string | undefined = owner === undefined ? undefined : [
  ...folders().map((version) => `/usr/lib/postgresql/${version}/bin/`),
  ""
].find((folder) => runs(`${folder}postgres`) && runs(`${folder}initdb`))

/** This machine has a PostgreSQL. */
export const isAvailable = binaries !== undefined

/** Makes databases on a server that runs. */
export interface Databases {
  readonly port: number
  /** Makes an empty database, which ends with the scope. */
  readonly database: Effect.Effect<string, never, Scope.Scope>
}

/** A server that its user alone may stop and start. */
export interface PostgresServer extends Databases {
  /** Stops the server. Connections end, and statements that run. */
  readonly stop: Effect.Effect<void>
  /** Kills it with all its connections, as a crash does. */
  readonly crash: Effect.Effect<void>
  /** Starts it again on the same port, with all data. */
  readonly start: Effect.Effect<void>
}

/**
 * The folder of the data: in memory if 4 GB are free there, since a database is made there in a tenth of the time. The data outlives a
 * crash of the server, not of the machine.
 */
const dataFolder = (): string => {
  const memory = "/dev/shm"
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return Math.min(bavail * bsize, freemem()) > 4 * 2 ** 30 ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

const environment = { PATH: process.env["PATH"], LC_ALL: "C.UTF-8" }

const launch = (port: number, directory: string) =>
  Effect.async<ChildProcess, string>((resume) => {
    const settings = [
      `listen_addresses=127.0.0.1`,
      `port=${port}`,
      `unix_socket_directories=${directory}`,
      "fsync=off",
      "max_connections=200",
      "deadlock_timeout=100ms"
    ]
    const child = spawn(`${binaries}postgres`, ["-D", directory, ...settings.flatMap((setting) => ["-c", setting])], {
      ...owner,
      cwd: directory,
      env: environment,
      stdio: ["ignore", "ignore", "pipe"]
    })
    let output = ""
    child.stderr.on("data", (data: Buffer) => {
      output = (output + String(data)).slice(-10_000)
      if (output.includes("ready to accept connections")) resume(Effect.succeed(child))
    })
    child.once("error", (error) => resume(Effect.fail(String(error))))
    child.once("exit", () => resume(Effect.fail(`postgres has ended: ${output}`)))
  })

const end = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.removeAllListeners("exit")
    child.once("exit", () => resume(Effect.void))
    child.kill(signal)
  })

/** Makes databases on a server of this machine. */
export const databasesOf = (port: number): Databases => {
  const run = (statement: string) =>
    Effect.provide(
      Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe(statement)),
      layerSql({ port }, "postgres", { maxConnections: 1 })
    )
  return {
    port,
    database: Effect.acquireRelease(
      Effect.suspend(() => {
        const name = `test_${randomUUID().replaceAll("-", "")}`
        return Effect.orDie(Effect.as(run(`CREATE DATABASE ${name}`), name))
      }),
      (name) => Effect.ignore(run(`DROP DATABASE ${name} WITH (FORCE)`))
    )
  }
}

/** Starts a server that ends with the scope. */
export const postgresServer: Effect.Effect<PostgresServer, string, Scope.Scope> = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const directory = mkdtempSync(join(dataFolder(), "postgres-"))
      if (isRoot && owner !== undefined) chownSync(directory, owner.uid, owner.gid)
      return directory
    }),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
  let child: ChildProcess | undefined
  /** `process.exit` runs no finalizers. */
  const endAtOnce = () => {
    child?.kill("SIGQUIT")
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 })
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => process.once("exit", endAtOnce)),
    () => Effect.sync(() => process.off("exit", endAtOnce))
  )
  yield* Effect.sync(() =>
    execFileSync(
      `${binaries}initdb`,
      ["-D", directory, "-U", user, "-A", "trust", "-E", "UTF8", "--no-sync", "--no-instructions"],
      { ...owner, cwd: directory, env: environment, stdio: "ignore" }
    )
  )
  const port = yield* freePort
  const start = Effect.map(launch(port, directory), (started) => {
    child = started
  })
  const endWith = (signal: NodeJS.Signals) =>
    Effect.suspend(() => child === undefined ? Effect.void : end(child, signal))
  yield* start
  yield* Effect.addFinalizer(() => endWith("SIGQUIT"))
  return {
    ...databasesOf(port),
    stop: endWith("SIGINT"),
    crash: endWith("SIGQUIT"),
    start: Effect.orDie(start)
  }
})

/** A pool of connections to a database. */
export const layerSql = (
  { port }: Pick<PostgresServer, "port">,
  database: string,
  options: Partial<PgClient.PgClientConfig> = {}
) => Layer.fresh(PgClient.layer({ host: "127.0.0.1", port, username: user, database, ...options }))

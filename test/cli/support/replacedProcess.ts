/** Runs programs in this process, while its streams, signals and exit are replaced. */
import { PassThrough } from "node:stream"
import { vi } from "vitest"
import type { Ran } from "./run.js"

export interface Settings {
  /** The words after the name of the program. */
  readonly args?: ReadonlyArray<string>
  /** All outputs are terminals of this width. */
  readonly columns?: number
  readonly variables?: Readonly<Record<string, string>>
}

/** A process that has begun. */
export interface Started {
  readonly stdin: PassThrough
  readonly stdout: PassThrough
  readonly stderr: PassThrough
  /** Sends it SIGINT, as Ctrl-C does. */
  readonly interrupt: () => void
}

/** A signal to which a program listens until it ends. */
const signal = "SIGTERM"

/**
 * Runs a program until it exits, or has nothing left to do, which is code 0. With `act`, something is done once it has begun.
 */
export const runReplaced = async (
  begin: () => unknown,
  settings: Settings = {},
  act: (started: Started) => void = () => {}
): Promise<Ran> => {
  const terminal = settings.columns === undefined ? {} : { isTTY: true, columns: settings.columns }
  const stdin = new PassThrough()
  const [stdout, stderr] = [Object.assign(new PassThrough(), terminal), Object.assign(new PassThrough(), terminal)]
  let isInterrupted = false
  const { argv } = process
  let onRemove: (name: string | symbol) => void = () => {}
  try {
    // sound: of these streams, only what all streams have is used, and the properties of terminals
    vi.spyOn(process, "stdin", "get").mockReturnValue(stdin as never)
    vi.spyOn(process, "stdout", "get").mockReturnValue(stdout as never)
    vi.spyOn(process, "stderr", "get").mockReturnValue(stderr as never)
    vi.spyOn(console, "log").mockImplementation((...texts) => void stdout.write(`${texts.join(" ")}\n`))
    vi.spyOn(console, "error").mockImplementation((...texts) => void stderr.write(`${texts.join(" ")}\n`))
    for (const name of ["NO_COLOR", "IDENTITY_DOMAIN", "IDENTITY_TOKEN"]) vi.stubEnv(name, settings.variables?.[name])
    process.argv = [process.execPath, "command", ...settings.args ?? []]
    const exited = new Promise<number>((resolve) => {
      vi.spyOn(process, "exit").mockImplementation((code) => {
        resolve(Number(code))
        return undefined as never // sound: the program does nothing after it
      })
      onRemove = (name) => {
        // An interrupted program, which has not ended yet, exits in any case.
        if (name === signal && !isInterrupted) setImmediate(() => resolve(0))
      }
    })
    process.on("removeListener", onRemove)
    const listeners = process.listenerCount(signal)
    await begin()
    act({
      stdin,
      stdout,
      stderr,
      interrupt: () => {
        isInterrupted = true
        process.emit("SIGINT")
      }
    })
    if (process.listenerCount(signal) === listeners) onRemove(signal) // it has ended already
    const code = await exited
    return { code, stdout: String(stdout.read() ?? ""), stderr: String(stderr.read() ?? "") }
  } finally {
    process.off("removeListener", onRemove)
    process.argv = argv
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  }
}

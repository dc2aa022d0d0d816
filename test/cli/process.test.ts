/** Tests the command as a process: its output is closed, and its questions are asked on a real terminal. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { bundledCommand } from "./support/program.js"

const program = await bundledCommand()

const env = { PATH: process.env["PATH"], NO_COLOR: "1" }

/** How a process ended, and all that it wrote. */
interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts a process, and does something as soon as its standard output contains a text. */
const run = (
  [file = "", ...args]: ReadonlyArray<string>,
  text: string,
  act: (child: ChildProcess, stdout: string) => void
): Effect.Effect<Ended> =>
  Effect.async((resume) => {
    const child = spawn(file, args, { env })
    const timer = setTimeout(() => child.kill("SIGKILL"), 200_000)
    let [stdout, stderr, isDone] = ["", "", false]
    child.stderr.on("data", (data) => void (stderr += data))
    child.stdout.on("data", (data) => {
      stdout += data
      if (isDone || !stdout.includes(text)) return
      isDone = true
      act(child, stdout)
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      resume(Effect.succeed({ code, stdout, stderr }))
    })
  })

describe("an output that nobody reads any more", () => {
  it.live("ends the command as Ctrl-C does", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* run([...program, "tenant", "--port", "0", "--json"], "\n", (child, stdout) => {
        child.stdout?.destroy()
        const { IDENTITY_TOKEN_URL: url } = JSON.parse(stdout)
        fetch(url).then((response) => response.arrayBuffer(), () => {})
      })
      assert.deepStrictEqual({ code, stderr }, { code: 130, stderr: "" })
    }))

  it.live("is no failure of a command that is done", () =>
    Effect.gen(function*() {
      for (const args of [["--version"], ["--help"]]) {
        const ended = yield* run(
          ["sh", "-c", `{ "$@"; echo "code $?" >&2; } | true`, "sh", ...program, ...args],
          "",
          () => {}
        )
        assert.deepStrictEqual(ended, { code: 0, stdout: "", stderr: "code 0\n" })
      }
    }))
})

/** A device on which each write fails. */
const full = "/dev/full"

describe("an output without space", () => {
  it.live.skipIf(!existsSync(full))("is a failure that the standard error output tells", () =>
    Effect.gen(function*() {
      for (const args of [["--version"], ["--help"], ["tenant", "--port", "0"]]) {
        const { code, stderr } = yield* run(["sh", "-c", `"$@" > ${full}`, "sh", ...program, ...args], "", () => {})
        assert.strictEqual(code, 1, args.join(" "))
        assert.match(stderr, /^Error: ENOSPC: no space left on device, write$/m)
      }
    }))
})

describe("a question on a terminal", () => {
  /** The program of util-linux that makes a terminal. Where it is missing, nothing is tested. */
  const terminal = "script"
  const canAsk = spawnSync(terminal, ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") === true

  /** Asks whether to delete, and types a reply. */
  const reply = (typed: string) => {
    const command = [...program, "delete", "est_6ZcQmD3vK8rWnYp5TsAhX2"].join(" ")
    return run([terminal, "--quiet", "--return", "--command", command, "/dev/null"], "[y/N]", (child) => {
      child.stdin?.write(typed)
    })
  }

  const question = "Delete event stream est_6ZcQmD3vK8rWnYp5TsAhX2 with its undelivered events? [y/N] "
  const replies = [
    ["Ctrl-C interrupts", "\u0003", 130, "^C\r\n"],
    ["Ctrl-D interrupts", "\u0004", 130, "\r\n"],
    ["the reply is shown and can be edited", "y\u007fn\r", 1, "y\b \bn\r\nNothing was deleted.\r\n"]
  ] as const
  for (const [title, typed, code, screen] of replies) {
    it.live.skipIf(!canAsk)(`is asked so that ${title}`, () =>
      Effect.gen(function*() {
        const ended = yield* reply(typed)
        assert.deepStrictEqual(ended, { code, stdout: `${question}${screen}`, stderr: "" })
      }))
  }
})

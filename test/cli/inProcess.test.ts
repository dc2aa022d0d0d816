/** Tests how the command is started, and how it runs in a process: with its streams, signals and exit code. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { readFileSync } from "node:fs"
import { main } from "../../src/cli/main.js"
import { runInProcess } from "../../src/cli/process.js"
import { Exited } from "../../src/cli/shared/exit.js"
import { Stdio } from "../../src/cli/shared/stdio.js"
import { effectMajor } from "../support/effectMajor.js"
import { runReplaced, type Settings } from "./support/replacedProcess.js"
import { runAlone } from "./support/run.js"

let starts = 0

/** Starts the command anew, as Node does. */
const start = (args: ReadonlyArray<string>, settings: Settings = {}, act?: Parameters<typeof runReplaced>[2]) => {
  const module = `../../src/cli/bin.js?start=${++starts}`
  return runReplaced(() => import(/* @vite-ignore */ module), { ...settings, args }, act)
}

describe("a program in a process", () => {
  it("exits with its code, with 1 after a defect, and with 130 after an interruption", async () => {
    const programs = [Effect.void, new Exited({ code: 3 }), Effect.dieMessage("a defect"), Effect.interrupt]
    const ended = []
    for (const program of programs) ended.push(await runReplaced(() => runInProcess(program)))
    assert.deepStrictEqual(ended, [0, 3, 1, 130].map((code) => ({ code, stdout: "", stderr: "" })))
  })

  it("is interrupted by SIGINT, and does what it has asked for", async () => {
    const program = Effect.flatMap(Stdio, ({ draw, onInterrupt }) =>
      Effect.gen(function*() {
        yield* Effect.scoped(onInterrupt(draw("over")))
        yield* onInterrupt(draw("at once"))
        yield* Effect.never
      }))
    const listeners = process.listenerCount("SIGINT")
    const ended = await runReplaced(
      () => runInProcess(Effect.scoped(program)),
      {},
      ({ interrupt }) => void setImmediate(interrupt)
    )
    assert.deepStrictEqual(ended, { code: 130, stdout: "", stderr: "at once" })
    assert.strictEqual(process.listenerCount("SIGINT"), listeners)
  })

  it("reads the standard input, and asks and draws on the standard error output", async () => {
    const program = Effect.flatMap(Stdio, ({ ask, draw, input, inputIsTerminal }) =>
      Effect.gen(function*() {
        yield* draw("bar")
        const reply = yield* ask("Go on? ")
        const rest = yield* Stream.mkString(Stream.decodeText(Stream.orDie(input)))
        yield* draw(`${reply} ${rest} ${inputIsTerminal === true}`)
      }))
    const ended = await runReplaced(() => runInProcess(program), {}, ({ stdin }) => {
      stdin.write("yes\n")
      stdin.end("more")
    })
    assert.deepStrictEqual(ended, { code: 0, stdout: "", stderr: "barGo on? yes more false" })
  })

  const outputsWith = async (settings: Settings): Promise<unknown> => {
    const program = Effect.flatMap(
      Stdio,
      ({ draw, errorOutput, output }) => draw(JSON.stringify([output, errorOutput]))
    )
    const { stderr } = await runReplaced(() => runInProcess(program), settings)
    return JSON.parse(stderr)
  }

  it("knows the width of its outputs, and writes colours to terminals", async () => {
    for (
      const [settings, output] of [
        [{}, { isTerminal: false, colours: false, columns: 80 }],
        [{ columns: 100 }, { isTerminal: true, colours: true, columns: 100 }],
        [{ columns: 100, variables: { NO_COLOR: "" } }, { isTerminal: true, colours: true, columns: 100 }]
      ] as const
    ) assert.deepStrictEqual(await outputsWith(settings), [output, output])
  })

  // Effect 4 reads the environment once in a process.
  it.skipIf(effectMajor > 3)("writes no colours if NO_COLOR is set", async () => {
    const output = { isTerminal: true, colours: false, columns: 100 }
    assert.deepStrictEqual(await outputsWith({ columns: 100, variables: { NO_COLOR: "1" } }), [output, output])
  })

  it("logs on the standard error output, with colours on a terminal only", async () => {
    for (const [settings, isColoured] of [[{}, false], [{ columns: 100 }, true]] as const) {
      const { stderr, stdout } = await runReplaced(() => runInProcess(Effect.logWarning("careful")), settings)
      assert.strictEqual(stdout, "")
      assert.match(stderr, /^[^\n]*WARN[^\n]*careful[^\n]*\n$/)
      assert.strictEqual(stderr.includes("\u001b["), isColoured)
    }
  })
})

describe("the command in a process", () => {
  it("prints its help, or complains with exit code 2", async () => {
    for (const args of [["--help"], [], ["none"]]) {
      assert.deepStrictEqual(await runReplaced(() => main(args)), await Effect.runPromise(runAlone(args)))
    }
  })

  it("is started with the arguments of the process", async () => {
    for (const args of [["--help"], [], ["delete"], ["export", "--help"]]) {
      assert.deepStrictEqual(await start(args), await Effect.runPromise(runAlone(args)))
    }
  })

  it("prints its version", async () => {
    const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"))
    assert.deepStrictEqual(await start(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" })
  })

  it("ends as after Ctrl-C if nobody reads an output any more, and fails if an output fails", async () => {
    for (const name of ["stdout", "stderr"] as const) {
      for (const code of ["EPIPE", "EOF", "ENOSPC"]) {
        let signals = 0
        const count = () => void signals++
        const error = Object.assign(new Error(`no output: ${code}`), { code })
        await start(["--version"], {}, ({ [name]: output }) => {
          process.on("SIGINT", count)
          if (code === "ENOSPC") assert.throws(() => output.emit("error", error), "no output: ENOSPC")
          else output.emit("error", error)
        }).finally(() => process.off("SIGINT", count))
        assert.strictEqual(signals, code === "ENOSPC" ? 0 : 1)
      }
    }
  })
})

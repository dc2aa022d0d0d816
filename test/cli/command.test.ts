/** Tests the command as a whole: help, usage beside complaints, completions, colours, exit codes. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, FiberId } from "effect"
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { catalog } from "../../src/cli/catalog.js"
import { codeOf } from "../../src/cli/shared/exit.js"
import { jsonLine, printable, printableLine, table, wrap } from "../../src/cli/shared/text.js"
import * as Errors from "../../src/Errors.js"
import * as Exports from "../../src/Exports.js"
import { bundledCommand } from "./support/program.js"
import { runAlone } from "./support/run.js"

const names = Object.keys(catalog)

const lines = (text: string) => text.trimEnd().split("\n")

/** Runs the command as a process. */
const spawned = async (args: ReadonlyArray<string>) => {
  const [node, file] = await bundledCommand()
  const { status, stderr, stdout } = spawnSync(node, [file, ...args], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"] }
  })
  return { code: status, stderr, stdout }
}

describe("--help", () => {
  it.live("of the command names each command", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runAlone(["--help"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      for (const name of names) assert.match(stdout, new RegExp(`^ {2}${name} +[A-Z]`, "m"))
      assert.deepStrictEqual((yield* runAlone(["-h"])).stdout, stdout)
    }))

  for (const name of ["", ...names]) {
    it.live(`of ${name || "the command"} fits a screen of 80 columns, without colours in a pipe`, () =>
      Effect.gen(function*() {
        const args = name === "" ? ["--help"] : [name, "--help"]
        const { code, stderr, stdout } = yield* runAlone(args)
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.isAtMost(lines(stdout).length, 40)
        for (const line of lines(stdout)) assert.isAtMost([...line].length, 80, line)
        assert.notInclude(stdout, "\u001b")
        if (name !== "") assert.include(stdout, `\nUsage: effect-identity-client ${name} `)
        const coloured = yield* runAlone(args, { columns: 100 })
        assert.include(coloured.stdout, "\u001b[1m")
      }))
  }
})

describe("complaints", () => {
  it.live("about the command name all of them, with exit code 2", () =>
    Effect.gen(function*() {
      for (
        const [args, problem] of [[[], "Name a command."], [["toString"], "There is no command \"toString\"."]] as const
      ) {
        const { code, stderr, stdout } = yield* runAlone(args)
        assert.deepStrictEqual([code, stdout, lines(stderr)[0]], [2, "", problem])
        assert.include(stderr, "\nUsage: effect-identity-client COMMAND")
        assert.include(stderr.replace(/\s+/g, " "), `Commands: ${names.join(", ")}`)
        for (const line of lines(stderr)) assert.isAtMost([...line].length, 80, line)
      }
    }))

  const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
    [["versions"], /[Mm]issing .*argument.*action/],
    [["versions", "a", "b"], /argument: ['"]b['"]/],
    [["versions", "a", "--jsn"], /: '?--jsn/],
    [["diff", "a", "x"], /['"]x['"]/],
    [["rollback", "a", "1", "--timeout", "soon"], /['"]soon['"]/],
    [["redeliver", "a", "--file", "/no/such/file"], /\/no\/such\/file/],
    [["update", "tep_1"], /There is nothing to change/],
    [["tenant", "--port", "70000"], /70000 is not a port/],
    [["export", "--out", ""], /--out: expected the name of a file/],
    [["export", "--out", "test"], /--out: expected the name of a file/],
    [["export", "--out", "test/", "--overwrite"], /--out: expected the name of a file/],
    [["generate", "--out", "x"], /--spec/]
  ]
  for (const [args, message] of wrong) {
    it.live(`about "${args.join(" ")}" come with the usage, and exit code 2`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* runAlone(args)
        assert.match(stderr, message)
        assert.match(stderr, new RegExp(`^Usage: effect-identity-client ${args[0]} `, "m"))
        const [, usage = ""] = stderr.split(/^(?=Usage: )/m)
        for (const line of lines(usage)) assert.isAtMost([...line].length, 80, line)
        assert.include((yield* runAlone([...args.slice(0, 1), "--help"])).stdout, `\n${usage.trimEnd()}\n`)
        assert.notInclude(stderr, "\u001b")
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.include((yield* runAlone(args, { columns: 80 })).stderr, "\u001b[31m")
      }))
  }

  it.live("about variables name those that are missing", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* runAlone(["versions", "a"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /^Missing or invalid environment variables: (?=.*IDENTITY_DOMAIN).*IDENTITY_CLIENT_ID/)
    }))

  it.live("about variables name no others, though their hints do", () =>
    Effect.gen(function*() {
      const client = { IDENTITY_DOMAIN: "tenant.example.com", IDENTITY_CLIENT_SECRET: "secret" }
      const key = { ...client, IDENTITY_CLIENT_ID: "id", IDENTITY_KEY_ID: "key" }
      for (
        const [variables, name, hint] of [
          [client, "IDENTITY_CLIENT_ID", "IDENTITY_CLIENT_SECRET needs it"],
          [key, "IDENTITY_KEY_ID", "needs IDENTITY_PRIVATE_KEY or IDENTITY_PRIVATE_KEY_FILE"]
        ] as const
      ) {
        const [first, second] = lines((yield* runAlone(["versions", "a"], { variables })).stderr)
        assert.strictEqual(first, `Missing or invalid environment variables: ${name}.`)
        assert.include(second, hint)
      }
    }))
})

describe("a process", () => {
  it("prints its version", async () => {
    const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"))
    assert.deepStrictEqual(await spawned(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" })
  })

  it.live("runs a command", () =>
    Effect.gen(function*() {
      for (const args of [["versions", "--help"], ["versions"], ["versions", "an-action"]]) {
        assert.deepStrictEqual(yield* Effect.promise(() => spawned(args)), yield* runAlone(args))
      }
    }), 60_000)
})

describe("--completions", () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    it.live(`has all commands and options for ${shell}`, () =>
      Effect.gen(function*() {
        const { code, stdout } = yield* runAlone(["--completions", shell])
        assert.strictEqual(code, 0)
        for (const text of [...names, "repeat-unknown", "subject-token-type"]) assert.include(stdout, text)
        const available = spawnSync(shell, ["-c", "exit"]).error === undefined
        if (!available) return
        const { status, stderr } = spawnSync(shell, ["-n"], { input: stdout, encoding: "utf8" })
        assert.deepStrictEqual([status, stderr], [0, ""])
      }))
  }
})

describe("completions of bash", () => {
  it.live("complete commands, the options of each, and the values of an option", () =>
    Effect.gen(function*() {
      const { stdout } = yield* runAlone(["--completions", "bash"])
      const program = "effect-identity-client"
      const complete = (...words: ReadonlyArray<string>): ReadonlyArray<string> => {
        const all = [program, ...words].map((word) => `'${word}'`).join(" ")
        const { stderr, stdout: reply } = spawnSync("bash", ["--norc"], {
          input: `${stdout}
            run=$(complete -p ${program} | sed "s/.*-F \\([^ ]*\\) .*/\\1/")
            COMP_WORDS=(${all}); COMP_CWORD=${words.length}; COMP_LINE='${[program, ...words].join(" ")}'
            COMP_POINT=\${#COMP_LINE}
            $run ${program}; printf '%s\\n' "\${COMPREPLY[@]}"`,
          encoding: "utf8"
        })
        assert.strictEqual(stderr, "")
        return lines(reply)
      }
      assert.sameMembers(complete("re").map(String), ["redeliver"])
      for (const name of names) assert.include(complete(name, "--j"), "--json", name)
      assert.deepStrictEqual(complete("redeliver", "stream", "--re"), ["--repeat-unknown"])
      assert.deepStrictEqual(complete("export", "--format", ""), ["json", "csv"])
    }), 60_000)
})

describe("--wizard", () => {
  it.live("is refused at once without a terminal, after each command", () =>
    Effect.gen(function*() {
      const forms = ["--wizard", "--wizard=true"]
      for (const [name, form] of names.flatMap((name) => forms.map((form) => [name, form] as const))) {
        const { code, stderr } = yield* runAlone([name, form])
        assert.match(stderr, /^Nobody can be asked without a terminal: give the arguments instead of --wizard\./, name)
        assert.strictEqual(code, 2)
      }
    }))
})

describe("the end of a command", () => {
  it.effect("has exit code 130 after an interruption, 3 if the service has not what was named, else 1", () =>
    Effect.gen(function*() {
      const unexpected = (status: number) =>
        new Errors.UnexpectedResponse({ operation: "getJob", message: "", status, reason: "status", shape: "" })
      const causes: ReadonlyArray<Cause.Cause<unknown>> = [
        Cause.interrupt(FiberId.none),
        Cause.fail(new Errors.NotFound({ operation: "getJob", message: "gone" })),
        Cause.fail(unexpected(404)),
        Cause.fail(unexpected(409)),
        Cause.fail(new Errors.TokenError({ operation: "getJob", message: "no token", status: 404 })),
        Cause.fail(new Exports.ExportError({ reason: "status", message: "no file", status: 404 })),
        Cause.fail("no reason"),
        Cause.die(new Error("a defect"))
      ]
      const codes = yield* Effect.forEach(causes, (cause) => codeOf(cause, "Usage"))
      assert.deepStrictEqual(codes, [130, 3, 3, 1, 1, 1, 1, 1])
    }))
})

describe("text", () => {
  it("of the service cannot steer the terminal", () => {
    assert.strictEqual(printable("a\tb\n\u001b[2Jc\u009b"), "a\tb\n\\u001b[2Jc\\u009b")
  })

  it("of the service stays on its line, also in a cell of a table", () => {
    assert.strictEqual(printableLine("a\tb\n\u001bc"), "a\\u0009b\\u000a\\u001bc")
    assert.strictEqual(table([["a", "b\nc"], ["d\te", 1]]), "a         b\\u000ac\nd\\u0009e         1")
  })

  it("is one line of JSON without control characters, with the same meaning", () => {
    const value = { text: "a\tb\n\u001b[2Jc\u007f\u009b2J" }
    const line = jsonLine(value)
    assert.strictEqual(line, "{\"text\":\"a\\tb\\n\\u001b[2Jc\\u007f\\u009b2J\"}")
    assert.deepStrictEqual(JSON.parse(line), value)
  })

  it("is broken between words; a long word has a line of its own", () => {
    assert.deepStrictEqual(wrap("ab cd efghijk lm", 5), ["ab cd", "efghijk", "lm"])
  })
})

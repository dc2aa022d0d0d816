/** Tests what the commands share: definitions with their help, questions, failures, and lines of text. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { createServer } from "node:http"
import { invoke } from "../../src/cli/invoke.js"
import { shown } from "../../src/cli/shared/changes.js"
import { confirm } from "../../src/cli/shared/confirm.js"
import { define } from "../../src/cli/shared/definition.js"
import { deliveryLine, fixedLine } from "../../src/cli/shared/deliveryLine.js"
import { describe as describeFailure, Exited, WrongUsage } from "../../src/cli/shared/exit.js"
import { bold, dim, green, red } from "../../src/cli/shared/text.js"
import { wrongArguments } from "../../src/cli/shared/wrongArguments.js"
import * as Errors from "../../src/Errors.js"
import type { ActionVersion } from "../../src/operations/listActionVersions.js"
import * as Tenant from "../../src/Tenant.js"
import * as Timestamp from "../../src/Timestamp.js"
import { guide } from "../support/documentation.js"
import { pipe, start, terminal } from "./support/record.js"
import { run, runAlone } from "./support/run.js"

/** A command that prints what it has parsed. */
const definition = define({
  name: "make",
  usage: "FILE [--only NAME…] [--group NAME…] [--a-name-that-leaves-no-room TEXT] [--all]",
  about: "Makes files.",
  codes: { 3: "no such file" },
  config: {
    file: Args.text({ name: "file" }).pipe(Args.withDescription("The file to make")),
    only: Options.text("only").pipe(Options.withDescription("Only these names"), Options.repeated),
    group: Options.text("group").pipe(Options.withDescription("Only these groups"), Options.repeated),
    long: Options.text("a-name-that-leaves-no-room").pipe(
      Options.withDescription("A text that is longer than its column, so that it takes two lines"),
      Options.withDefault("none")
    ),
    plain: Options.text("plain"),
    all: Options.boolean("all").pipe(Options.withAlias("a"), Options.withDescription("Make all of them"))
  },
  run: (parsed) => Console.log(JSON.stringify(parsed))
})

const invoked = (args: ReadonlyArray<string>, other = definition) =>
  Effect.provide(
    Effect.flatMap(start(invoke(other, args)), ({ ended }) => ended),
    NodeContext.layer
  )

describe("the help of a command", () => {
  const exitCodes = (...more: ReadonlyArray<string>) => [
    "Exit codes",
    "  0    success",
    "  1    failure; the standard error output says why",
    "  2    wrong usage; nothing was sent",
    ...more,
    "  130  interrupted"
  ]

  it.effect("lists its arguments, options and exit codes in 80 columns", () =>
    Effect.gen(function*() {
      const { stdout } = yield* invoked(["make", "--help"])
      assert.deepStrictEqual(stdout.split("\n"), [
        "Makes files.",
        "",
        "Usage: effect-identity-client make FILE [--only NAME…] [--group NAME…]",
        "         [--a-name-that-leaves-no-room TEXT] [--all]",
        "",
        "Arguments",
        "  <file>  The file to make",
        "",
        "Options",
        "  --only text...            Only these names",
        "  --group text...           Only these groups",
        "  --a-name-that-leaves-no-room text",
        "                            A text that is longer than its column, so that it",
        "                            takes two lines",
        "  --plain text              ",
        "  -a, --all                 Make all of them",
        "",
        ...exitCodes("  3    no such file"),
        ""
      ])
    }))

  it.effect("has no sections of nothing", () =>
    Effect.gen(function*() {
      const bare = define({ name: "bare", usage: "-", about: "Does nothing.", config: {}, run: () => Effect.void })
      const { stdout } = yield* invoked(["bare", "-h"], bare)
      assert.deepStrictEqual(stdout.split("\n"), [
        "Does nothing.",
        "",
        "Usage: effect-identity-client bare -",
        "",
        ...exitCodes(),
        ""
      ])
    }))

  for (const name of ["versions", "deliveries", "delete"]) {
    it.live(`of ${name} is the one that the guide shows`, () =>
      Effect.gen(function*() {
        const line = `$ effect-identity-client ${name} --help\n`
        const [, screen = ""] = guide("command-line").split(line)
        assert.strictEqual((yield* runAlone([name, "--help"])).stdout, screen.split("```")[0])
      }))
  }
})

describe("an option that may be given several times", () => {
  it.effect("takes several values, up to the next option", () =>
    Effect.gen(function*() {
      const args = ["--only", "one", "two-", "--only", "three", "--group", "x", "y", "--plain", "text", "--all", "file"]
      const { code, stdout, stderr } = yield* invoked(["make", ...args])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(JSON.parse(stdout), {
        file: "file",
        only: ["one", "two-", "three"],
        group: ["x", "y"],
        long: "none",
        plain: "text",
        all: true
      })
    }))
})

describe("a question whether to go on", () => {
  const asked: Array<string> = []
  const confirmed = (reply: string, yes: boolean, inputIsTerminal = true, errorOutput = terminal(80)) =>
    Effect.flatMap(
      start(Effect.flatMap(confirm("Go on?", yes), (is) => Console.log(is)), {
        inputIsTerminal,
        errorOutput,
        ask: (question) => Effect.as(Effect.sync(() => void asked.push(question)), reply)
      }),
      ({ ended }) => ended
    )

  it.effect("accepts yes or y alone, in any case", () =>
    Effect.gen(function*() {
      for (const reply of ["y", "Y", "yes", " Yes\t"]) {
        assert.strictEqual((yield* confirmed(reply, false)).stdout, "true\n")
      }
      for (const reply of ["", "n", "no", "yesterday", "ye", "oh yes"]) {
        assert.strictEqual((yield* confirmed(reply, false)).stdout, "false\n")
      }
      assert.deepStrictEqual([...new Set(asked.splice(0))], ["Go on? [y/N] "])
    }))

  it.effect("needs a terminal to read from and one to write to, unless --yes is given", () =>
    Effect.gen(function*() {
      for (const [input, output] of [[true, pipe], [false, terminal(80)], [false, pipe]] as const) {
        assert.deepStrictEqual(yield* confirmed("y", false, input, output), {
          code: 2,
          stdout: "",
          stderr: "Nobody can be asked without a terminal: check, and add --yes.\n\nUsage: of the command\n"
        })
        assert.deepStrictEqual(yield* confirmed("n", true, input, output), { code: 0, stdout: "true\n", stderr: "" })
      }
      assert.deepStrictEqual(asked, [])
    }))
})

describe("a failure", () => {
  it("is described by its name and message, without control characters", () => {
    const failures = [
      new WrongUsage({ message: "no \u0007 name" }),
      new Errors.Forbidden({ operation: "getJob", message: "No." }),
      new Error("no name"),
      "a \u0007 text",
      new Exited({ code: 1 })
    ]
    assert.deepStrictEqual(failures.map(describeFailure), [
      "WrongUsage: no \\u0007 name",
      "Forbidden: getJob: No.",
      "no name",
      "a \\u0007 text",
      "Exited: "
    ])
  })

  it.live("of several variables names all of them", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* runAlone(["versions", "an-action"])
      assert.strictEqual(
        stderr.split("\n")[0],
        "Missing or invalid environment variables: IDENTITY_DOMAIN, IDENTITY_CLIENT_ID."
      )
      assert.strictEqual(code, 1)
    }))

  it.effect("of fields names the arguments of the command, unless one of them has none", () =>
    Effect.gen(function*() {
      const named = (...paths: ReadonlyArray<string>) =>
        Effect.flip(
          wrongArguments({ from: "--from", eventTypes: "--event-type" })(
            Effect.fail(
              new Errors.InvalidInput({
                operation: "Deliveries.failed",
                issues: paths.map((path) => ({ path, message: "expected a time, as `from` or `other`" }))
              })
            )
          )
        )
      assert.deepStrictEqual(
        yield* named("from", "eventTypes[0]"),
        new WrongUsage({
          message: "--from: expected a time, as --from or `other`\n--event-type: expected a time, as --from or `other`"
        })
      )
      for (const paths of [["from", "other"], ["other"], ["toString"], []]) {
        assert.strictEqual((yield* named(...paths))._tag, "InvalidInput")
      }
    }))
})

describe("a line of a failed delivery", () => {
  const delivery = {
    id: "evt_1",
    event_stream_id: "est_1",
    status: "failed",
    event_type: "user.created",
    attempts: []
  } as const

  it("ends with its last column that is not empty, and is cut on a terminal", () => {
    assert.strictEqual(fixedLine(pipe, ["one  ", "two", "   "]), "one    two")
    assert.strictEqual(deliveryLine(pipe)(delivery), `evt_1${" ".repeat(21)}  user.created   0`)
    assert.strictEqual(fixedLine(terminal(10), ["one", "three"]), "one  three")
    assert.strictEqual(fixedLine(terminal(9), ["one", "three"]), "one  thr…")
    assert.strictEqual(fixedLine({ ...pipe, columns: 9 }, ["one", "three"]), "one  three")
  })
})

describe("the changes between two versions", () => {
  it("are coloured but for the lines around them", () => {
    const time = Timestamp.make("2023-03-02T09:21:40Z")
    const version = (number: number, code: string): ActionVersion => ({
      id: `v${number}`,
      action_id: "a",
      code,
      dependencies: [],
      deployed: false,
      runtime: "node22",
      secrets: [],
      status: "built",
      number,
      errors: [],
      built_at: time,
      created_at: time,
      updated_at: time,
      supported_triggers: []
    })
    assert.deepStrictEqual(shown(version(1, "a\nb\n"), version(2, "a\nc\n")).split("\n"), [
      bold("--- code of #1"),
      bold("+++ code of #2"),
      dim("@@ -1,2 +1,2 @@"),
      " a",
      red("-b"),
      green("+c")
    ])
  })
})

describe("a short call", () => {
  it.live("takes its token and its response from one connection", () =>
    Effect.gen(function*() {
      let connections = 0
      const server = () => createServer().on("connection", () => void connections++)
      const { code } = yield* run(["deliveries", Tenant.demo.streams[0].id]).pipe(
        Effect.provide(Tenant.layerServer.pipe(
          Layer.provide(Tenant.layer),
          Layer.provideMerge(NodeHttpServer.layer(server, { host: "127.0.0.1", port: 0 }))
        ))
      )
      assert.deepStrictEqual([code, connections], [0, 1])
    }))
})

/** Tests `redeliver` with a call for each event: its options, its summary, and its progress. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream, TestClock } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { TenantLive } from "../../examples/tour.js"
import { redeliverEvent } from "../../src/index.js"
import * as Tenant from "../../src/Tenant.js"
import { guide } from "../support/documentation.js"
import { idOf, ids, keyOf, stream } from "../support/redelivery.js"
import { run, runAlone } from "./support/run.js"

/** A client of a tenant that is not there. */
const variables = { IDENTITY_DOMAIN: "tenant.example.com", IDENTITY_TOKEN: "token" }

/** A file with text, and the arguments that read it, with a journal beside it. */
const prepared = (text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const file = join(folder, "ids")
    yield* fs.writeFileString(file, text)
    const directory = join(folder, "journal")
    const journal = ["redeliver", stream, "--journal", directory]
    return { directory, journal, file, args: [...journal, "--file", file] }
  }).pipe(Effect.provide(NodeContext.layer))

/** Sets how the service responds to the event with a number: with a status and a message, or not until a time has passed. */
const respond = (
  response: (nth: number) => Effect.Effect<void, { readonly status: number; readonly message?: string }>
) =>
  Effect.gen(function*() {
    const tenant = yield* Tenant.Tenant
    yield* tenant.seed({ streams: [{ id: stream, events: ids(20).map((id) => ({ id, state: "failed" as const })) }] })
    const sent: Array<number> = []
    yield* tenant.respond(redeliverEvent, ({ event_id }) =>
      Effect.suspend(() => {
        const nth = Number(event_id.slice(4))
        sent.push(nth)
        return response(nth)
      }))
    return sent
  })

const refuse = (message: string) => Effect.fail({ status: 400, message })

/** The lines of an output, without the host in messages. */
const lines = (text: string) =>
  text.trimEnd().replace(/redeliverEvent: (status \d+) from [\d.:]+: /g, "$1: ").split("\n")

describe("the options of redeliver", () => {
  it.live("are those of its help, which the guide shows", () =>
    Effect.gen(function*() {
      const [, help = ""] = /^\$ effect-identity-client redeliver --help\n([^]*?)^```$/m.exec(guide("command-line")) ??
        []
      for (const option of ["--help", "-h"]) {
        const ran = yield* runAlone(["redeliver", option])
        assert.deepStrictEqual(ran, { code: 0, stdout: help, stderr: "" })
      }
    }))

  const file = ["--file", "package.json"]
  const since = ["--failed-since", "2020-01-01"]
  const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: string]> = [
    [["--one-call", ...file], "--file cannot be used with --one-call."],
    [["--one-call", ...since], "--failed-since cannot be used with --one-call."],
    [["--one-call", "--journal", "test"], "--journal cannot be used with --one-call."],
    [["--one-call", "--concurrency", "1"], "--concurrency cannot be used with --one-call."],
    [["--one-call", "--stop-after", "1"], "--stop-after cannot be used with --one-call."],
    [["--one-call", "--repeat-unknown"], "--repeat-unknown cannot be used with --one-call."],
    [
      ["--one-call", "--delivered-after", "600"],
      "--delivered-after (600 s) must be shorter than --follow-for (600 s): else no event counts as delivered."
    ],
    [
      ["--one-call", "--follow-for", "60"],
      "--delivered-after (60 s) must be shorter than --follow-for (60 s): else no event counts as delivered."
    ],
    [["--from", "2020-01-01"], "--from needs --one-call."],
    [["--to", "2020-01-01"], "--to needs --one-call."],
    [["--delivered-after", "1"], "--delivered-after needs --one-call."],
    [["--follow-for", "1"], "--follow-for needs --one-call."],
    [["--yes"], "--yes needs --one-call."],
    [["-y"], "--yes needs --one-call."],
    [[...file, ...since], "Give either --file or --failed-since."],
    [["--event-type", "user.created"], "--event-type needs --failed-since or --one-call."]
  ]
  for (const [args, message] of wrong) {
    it.live(`are refused if they do not go together: ${args.join(" ")}`, () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* runAlone(["redeliver", stream, ...args], { variables })
        assert.deepStrictEqual([code, stdout, lines(stderr)[0]], [2, "", message])
        assert.include(stderr, "\n\nUsage: effect-identity-client redeliver STREAM [--file FILE |\n")
      }))
  }

  it.scopedLive("are named if their values are invalid", () =>
    Effect.gen(function*() {
      const { args, file, journal } = yield* prepared("")
      const oneCall = ["redeliver", stream, "--one-call"]
      for (
        const [wrong, message] of [
          [[...args, "--stop-after", "0"], "--stop-after: expected an integer of at least 1, or Infinity"],
          [[...args, "--concurrency", "0"], "--concurrency: expected an integer of at least 1"],
          [["redeliver", "est_none", ...journal.slice(2), "--file", file], "STREAM: expected "],
          [[...journal, "--failed-since", "noon"], "--failed-since: expected "],
          [[...journal, ...since, "--event-type", "a,b"], "--event-type: expected "],
          [[...oneCall, "--from", "noon"], "--from: expected "],
          [[...oneCall, "--to", "noon"], "--to: expected "]
        ] as const
      ) {
        const { code, stderr, stdout } = yield* runAlone(wrong, { variables })
        assert.deepStrictEqual([code, stdout, stderr.slice(0, message.length)], [2, "", message])
      }
    }))

  it.live("have a default for the journal: a directory of the stream, and of the time of the failures", () =>
    Effect.gen(function*() {
      const long = "a/".repeat(200) // a directory of this name cannot be made
      const directory = `redelivery-${"a%2F".repeat(200)}`
      const ofIds = yield* runAlone(["redeliver", long], { variables })
      assert.strictEqual(ofIds.code, 1)
      assert.match(ofIds.stderr, new RegExp(`[^\\w-]${directory}[^\\w-]`))
      const ofTime = yield* runAlone(["redeliver", long, ...since], { variables })
      assert.strictEqual(ofTime.code, 1)
      assert.match(ofTime.stderr, new RegExp(`[^\\w-]${directory}-2020-01-01[^\\w-]`))
    }))
})

/** Runs a command, and lets its time pass until it ends. */
const runInTime = (...[args, settings]: Parameters<typeof run>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(run(args, settings))
    let isOver = false
    yield* Effect.fork(Effect.zipRight(Fiber.await(fiber), Effect.sync(() => void (isOver = true))))
    yield* Effect.repeat(TestClock.adjust("100 millis"), { until: () => isOver })
    return yield* Fiber.join(fiber)
  })

describe("redeliver", () => {
  it.scoped("counts each outcome, says what it means, and why events were not accepted", () =>
    Effect.gen(function*() {
      const statuses = [200, 409, 404, 500, 400]
      const sent = yield* respond((nth) => nth === 0 ? Effect.void : Effect.fail({ status: statuses[nth] ?? 400 }))
      const text = [
        `${idOf(0)} # the first`,
        "",
        "# only a comment",
        "nonsense",
        ...ids(5).slice(1).map((id) => `  ${id}`),
        idOf(0)
      ].join("\n")
      const { args } = yield* prepared(text)
      const { code, stderr, stdout } = yield* run([...args, "--concurrency", "1"])
      assert.deepStrictEqual(lines(stdout), [
        "accepted   2  will be delivered again",
        "notFailed  1  has not failed, or no longer",
        "gone       1  does not exist",
        "invalid    1  not an event id",
        "unknown    1  may have been accepted; check, then retry with --repeat-unknown",
        "failed     1  not accepted; run again to retry them",
        "7 events in 0s, 1 of them already known",
        "1 × unknown: status 500: A failure that the test has set",
        "1 × failed: redeliverEvent: A failure that the test has set",
        `unknown: ${idOf(3)}`,
        "Check them; --repeat-unknown sends them again."
      ])
      assert.deepStrictEqual([code, stderr, sent], [3, "", [0, 1, 2, 3, 4]])
    }).pipe(Effect.provide(TenantLive)))

  it.scoped("ends with code 3 if an event is invalid, or unknown and --repeat-unknown is not given", () =>
    Effect.gen(function*() {
      const statuses = [500]
      const sent = yield* respond(() =>
        Effect.suspend(() => {
          const status = statuses.pop()
          return status === undefined ? Effect.void : Effect.fail({ status })
        })
      )
      const { args, journal } = yield* prepared(idOf(0))
      const invalid = yield* run(journal, { input: "nonsense" })
      assert.deepStrictEqual(invalid, { code: 3, stdout: "invalid  1  not an event id\n1 event in 0s\n", stderr: "" })
      const meaning = "unknown  1  may have been accepted; check, then retry with --repeat-unknown\n"
      const unknown = yield* run(args)
      assert.deepStrictEqual([unknown.code, unknown.stdout.slice(0, meaning.length)], [3, meaning])
      const recalled = yield* run([...args, "--dry-run"])
      assert.include(recalled.stdout, `${meaning}1 event in 0s, 1 of them already known\n`)
      assert.deepStrictEqual([recalled.code, sent], [3, [0]])
      const due = yield* run([...args, "--dry-run", "--repeat-unknown"])
      assert.deepStrictEqual(due, {
        code: 0,
        stdout: `${idOf(0)}\ndue  1  would be sent\n1 event in 0s\n`,
        stderr: ""
      })
      const repeated = yield* run([...args, "--repeat-unknown"])
      assert.deepStrictEqual(repeated, {
        code: 0,
        stdout: "accepted  1  will be delivered again\n1 event in 0s\n",
        stderr: ""
      })
      assert.deepStrictEqual(sent, [0, 0])
    }).pipe(Effect.provide(TenantLive)))

  it.scoped("retries with the same journal what has failed, and says in lines of JSON what was known", () =>
    Effect.gen(function*() {
      let isDown = true
      const sent = yield* respond((nth) => nth > 0 && isDown ? refuse("No.") : Effect.void)
      const { args } = yield* prepared(ids(3).join("\n"))
      const first = yield* run([...args, "--json", "--concurrency", "1", "--stop-after", "1"])
      const counts = { accepted: 1, notFailed: 0, gone: 0, invalid: 0, unknown: 0, failed: 1, due: 0 }
      const error = { tag: "BadRequest", message: "redeliverEvent: No.", operation: "redeliverEvent" }
      assert.deepStrictEqual(lines(first.stdout).map((line): unknown => JSON.parse(line)), [
        { id: idOf(0), recalled: false, outcome: "accepted" },
        { id: idOf(1), recalled: false, outcome: "failed", error },
        { done: 2, recalled: 0, stopped: true, ...counts }
      ])
      assert.deepStrictEqual([first.code, first.stderr], [3, ""])
      isDown = false
      const second = yield* run(args)
      assert.deepStrictEqual(second, {
        code: 0,
        stdout: "accepted  3  will be delivered again\n3 events in 0s, 1 of them already known\n",
        stderr: ""
      })
      assert.deepStrictEqual([...sent].sort(), [0, 1, 1, 2])
    }).pipe(Effect.provide(TenantLive)))

  it.scoped("names no reason for an unknown event if the journal has none", () =>
    Effect.gen(function*() {
      const sent = yield* respond(() => Effect.void)
      const { args, directory } = yield* prepared(idOf(0))
      mkdirSync(directory)
      writeFileSync(
        join(directory, keyOf(idOf(0))),
        JSON.stringify({ id: idOf(0), run: "earlier", outcome: "unknown" })
      )
      const ran = yield* run(args)
      const stdout = "unknown  1  may have been accepted; check, then retry with --repeat-unknown\n" +
        `1 event in 0s, 1 of them already known\nunknown: ${idOf(0)}\nCheck them; --repeat-unknown sends them again.\n`
      assert.deepStrictEqual([ran, sent], [{ code: 3, stdout, stderr: "" }, []])
    }).pipe(Effect.provide(TenantLive)))

  for (const json of [false, true]) {
    it.scopedLive(
      `names what was being sent when it was interrupted${json ? ", with --json" : ""}`,
      () =>
        Effect.gen(function*() {
          let held = 0
          yield* respond((nth) => nth === 0 ? Effect.void : Effect.zipRight(Effect.sync(() => held++), Effect.never))
          const { args } = yield* prepared(ids(3).join("\n"))
          const { code, stderr, stdout } = yield* run([...args, ...(json ? ["--json"] : [])], {
            interruptWhen: Effect.sync(() => held === 2)
          })
          assert.strictEqual(code, 130)
          const text = json ? stderr : stdout
          assert.match(text, /\nunknown: evt_\w+, evt_\w+\nCheck them; --repeat-unknown sends them again\.\n$/)
          for (const nth of [1, 2]) assert.include(text, idOf(nth))
          assert.notInclude(text, `unknown: ${idOf(0)}`)
        }).pipe(Effect.provide(TenantLive)),
      60_000
    )
  }

  it.scopedLive("says after some seconds that it waits for ids where nothing comes", () =>
    Effect.gen(function*() {
      const { journal } = yield* prepared("")
      const { stderr } = yield* run(journal, { input: Stream.never, interruptAfter: "Waiting for" })
      assert.match(
        stderr,
        /^Waiting for event ids on the standard input, one per line; or give --file or --failed-since\.\n/m
      )
    }).pipe(Effect.provide(TenantLive)), 20_000)

  it.scoped("lists ten reasons why events were not accepted", () =>
    Effect.gen(function*() {
      yield* respond((nth) => refuse(`reason ${nth}`))
      const { args } = yield* prepared(ids(10).join("\n"))
      const [table, time, ...reasons] = lines((yield* run(args)).stdout)
      assert.deepStrictEqual([table, time], ["failed  10  not accepted; run again to retry them", "10 events in 0s"])
      assert.deepStrictEqual(
        reasons.sort(),
        Array.from({ length: 10 }, (_, nth) => `1 × failed: redeliverEvent: reason ${nth}`)
      )
    }).pipe(Effect.provide(TenantLive)))

  it.scoped("lists the most frequent of more reasons first", () =>
    Effect.gen(function*() {
      yield* respond((nth) => refuse(`reason ${nth === 12 ? 11 : nth}`))
      const { args } = yield* prepared(ids(13).join("\n"))
      const [, , most, ...reasons] = lines((yield* run(args)).stdout)
      assert.strictEqual(most, "2 × failed: redeliverEvent: reason 11")
      for (const reason of reasons.slice(0, 9)) assert.match(reason, /^1 × failed: redeliverEvent: reason \d+$/)
      assert.deepStrictEqual(reasons.slice(9), ["and 2 other reasons; --json prints them all"])
    }).pipe(Effect.provide(TenantLive)))

  it.scoped("redelivers what has failed since a time, of the types that are named", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const sent = yield* respond(() => Effect.void)
      const attempts = [{ timestamp: "2030-01-01T00:00:00.000Z" }]
      const events = ["user.created", "user.updated", "user.deleted"].map((event_type, nth) =>
        ({ id: idOf(nth), state: "failed", event_type, attempts }) as const
      )
      yield* tenant.seed({ streams: [{ id: stream, events }] })
      const { journal } = yield* prepared("")
      const types = ["--event-type", "user.updated", "--event-type", "user.deleted"]
      const some = yield* run([...journal, "--failed-since", "2029-12-31", "--dry-run", ...types])
      assert.deepStrictEqual([some.code, some.stderr], [0, ""])
      assert.match(some.stdout, /^(?:evt_\w+\n){2}due {2}2 {2}would be sent\n2 events in 0s\n$/)
      const all = yield* run([...journal, "--failed-since", "2029-12-31"])
      assert.deepStrictEqual(all, {
        code: 0,
        stdout: "accepted  3  will be delivered again\n3 events in 0s\n",
        stderr: ""
      })
      assert.deepStrictEqual([...sent].sort(), [0, 1, 2])
    }).pipe(Effect.provide(TenantLive)))
})

describe("the progress of redeliver", () => {
  /** All texts that were drawn, each once, without the rate and its time. */
  const drawn = (stderr: string) => [
    ...new Set(stderr.split("\r\u001b[K").map((text) => text.replace(/\d+\/s, .* left/, "RATE")))
  ]

  it.scoped("tells on a terminal how many events are done, failed or unknown, of how many, but not with --json", () =>
    Effect.gen(function*() {
      const statuses = [200, 400, 500]
      yield* respond((nth) => {
        const status = statuses[nth]
        return status === 200
          ? Effect.void
          : status === undefined
          ? Effect.sleep("2 seconds")
          : Effect.fail({ status })
      })
      const { args } = yield* prepared(ids(4).join("\n"))
      const { stderr } = yield* runInTime([...args, "--concurrency", "1"], { columns: 80 })
      assert.include(drawn(stderr), `${"█".repeat(18)}${"░".repeat(6)} 3 of 4, RATE, 2 failed or unknown`)
      const other = yield* prepared(idOf(5))
      const json = yield* runInTime([...other.args, "--json"], { columns: 80 })
      assert.deepStrictEqual([json.code, json.stderr], [0, ""])
    }).pipe(Effect.provide(TenantLive)))

  it.scoped("tells on a terminal only what is done while the number of ids is unknown, and that the run pauses", () =>
    Effect.gen(function*() {
      yield* respond((nth) =>
        nth < 2 ? Effect.sleep("1 seconds") : nth < 7 ? Effect.fail({ status: 503 }) : Effect.void
      )
      const { journal } = yield* prepared("")
      const { code, stderr } = yield* runInTime([...journal, "--concurrency", "1"], {
        columns: 80,
        input: ids(8).join("\n")
      })
      const bar = "░".repeat(24)
      const texts = ["1, RATE", "7, RATE, 5 failed or unknown, paused"]
      assert.includeMembers(drawn(stderr), texts.map((text) => `${bar} ${text}`))
      assert.strictEqual(code, 3)
    }).pipe(Effect.provide(TenantLive)))
})

/** Tests `redeliver`, `delete` and `update` against a tenant on a socket. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { once } from "node:events"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { dirname } from "node:path"
import { TenantLive } from "../../examples/tour.js"
import * as Tenant from "../../src/Tenant.js"
import { cert, key } from "../support/certificate.js"
import { run, runAlone, until } from "./support/run.js"

const { profiles: [profile], streams: [stream] } = Tenant.demo
const [first, second, queued] = stream.events

/** A tenant that delivers queued events after a second. */
const QuickTenantLive = Tenant.layerServer.pipe(
  Layer.provideMerge(Tenant.layerWith({ durations: { delivery: "1 second" } })),
  Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
)

const namesOf = ({ requests }: Tenant.Tenant["Type"]) =>
  Effect.map(
    requests,
    (requests) => requests.flatMap(({ operation }) => operation === "token" ? [] : operation ?? [])
  )

const sent = Effect.flatMap(Tenant.Tenant, namesOf)
/** A file with text, and the arguments of `redeliver` with a journal beside it. */
const prepared = (text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    const [file, journal] = [join(folder, "ids"), join(folder, "journal")]
    yield* fs.writeFileString(file, text)
    return { file, journal, args: ["redeliver", stream.id, "--journal", journal] }
  }).pipe(Effect.provide(NodeContext.layer))

describe("redeliver", () => {
  it.scopedLive("redelivers the ids of a file, prints a summary, and exits with code 3 after failures", () =>
    Effect.gen(function*() {
      const text = [first.id, "nonsense # not an id", "", queued.id, first.id].join("\n")
      const { args, file } = yield* prepared(text)
      const { code, stderr, stdout } = yield* run([...args, "--file", file])
      assert.match(
        stdout,
        /^accepted {3}2 .*\nnotFailed {2}1 .*\ninvalid {4}1 .*\n4 events in .*, 1 of them already known\n$/
      )
      assert.deepStrictEqual([code, stderr], [3, ""])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("reads ids from the standard input and writes lines of JSON", () =>
    Effect.gen(function*() {
      const { args } = yield* prepared("")
      const { code, stderr, stdout } = yield* run([...args, "--json"], { input: `${first.id}\n` })
      const [result, summary] = stdout.trim().split("\n").map((line) => JSON.parse(line) as unknown)
      assert.deepStrictEqual(result, { id: first.id, recalled: false, outcome: "accepted" })
      assert.deepInclude(summary, { done: 1, accepted: 1, stopped: false })
      assert.deepStrictEqual([code, stderr], [0, ""])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("sends nothing with --dry-run, and lists what it would send", () =>
    Effect.gen(function*() {
      const { args } = yield* prepared("")
      const { code, stdout } = yield* run([...args, "--dry-run"], { input: `${first.id}\n${second.id}` })
      assert.deepStrictEqual(stdout.split("\n").slice(0, 2).sort(), [first.id, second.id].sort())
      assert.match(stdout, /\ndue {2}2 {2}would be sent\n2 events in .*\n$/)
      assert.deepStrictEqual([code, yield* sent], [0, []])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("says what it waits for if the ids come from a terminal", () =>
    Effect.gen(function*() {
      const { args } = yield* prepared("")
      const { code, stderr } = yield* run(args, { input: `${first.id}\n`, reply: "" })
      assert.include(stderr, "Type event ids, one per line, and end with Ctrl-D; or give --file or --failed-since.\n")
      assert.strictEqual(code, 0)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("reports the reasons of failures, stops after --stop-after, and retries with --repeat-unknown", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      const { args, file } = yield* prepared(`${first.id}\n${second.id}\n`)
      const refuse = injectFault({ operation: "redeliverEvent", status: 400, body: { message: "no" } })
      yield* Effect.repeatN(refuse, 1)
      const asText = yield* run([...args, "--file", file])
      assert.match(asText.stdout, /^failed {2}2 .*\n2 events in .*\n2 × failed: .*\n$/)
      yield* refuse
      const stopped = yield* run([...args, "--file", file, "--concurrency", "1", "--stop-after", "1"])
      assert.match(stopped.stdout, /; stopped early\n/)
      yield* Effect.repeatN(refuse, 1)
      const asJson = yield* run([...args, "--json", "--repeat-unknown", "--file", file])
      const lines = asJson.stdout.trim().split("\n").map((line) => JSON.parse(line) as { readonly done?: number })
      assert.deepStrictEqual(lines.map(({ done }) => done), [undefined, undefined, 2])
      assert.deepStrictEqual([asText.code, stopped.code, asJson.code], [3, 3, 3])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("ends at once if no event has a chance, and says how to resume", () =>
    Effect.gen(function*() {
      const { args, file, journal } = yield* prepared(`${first.id}\n${second.id}\n`)
      const refused = yield* run([...args, "--file", file], { variables: { IDENTITY_CLIENT_SECRET: "wrong-secret" } })
      assert.deepStrictEqual([refused.code, refused.stdout], [1, "0 events in 0s\n"])
      assert.match(
        refused.stderr,
        /^RunError: .*401[^]*\nMend this first. Run the same command to resume; the journal is /
      )
      assert.include(refused.stderr, journal)
      const unknown = ["redeliver", "est_0000000000000000000000", "--journal", `${journal}-2`, "--file", file]
      const { code, stderr } = yield* run(unknown)
      assert.strictEqual(code, 3)
      assert.match(stderr, /^RunError: .*stream/)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("prints the summary and says how to resume if the list of failed events ends with a failure", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      const { args, journal } = yield* prepared("")
      yield* injectFault({ operation: "listDeliveries", status: 403, body: { message: "No." } })
      const { code, stderr, stdout } = yield* run([...args, "--failed-since", "2020-01-01"])
      assert.deepStrictEqual([code, stdout], [1, "0 events in 0s\n"])
      assert.strictEqual(
        stderr,
        `Forbidden: listDeliveries: No.\nMend this first. Run the same command to resume; the journal is ${journal}\n`
      )
      const missing = yield* run([
        "redeliver",
        "est_0000000000000000000000",
        "--journal",
        `${journal}-2`,
        "--failed-since",
        "2020-01-01"
      ])
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /^NotFound: .*\nCorrect STREAM: no event stream has this id.\n$/)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("asks for another directory if the journal is another stream's", () =>
    Effect.gen(function*() {
      const { args, file, journal } = yield* prepared(first.id)
      yield* run([...args, "--file", file])
      const other = ["redeliver", "est_0000000000000000000000", "--journal", journal, "--file", file]
      assert.match((yield* run(other)).stderr, /^JournalError: .*\nGive another directory by --journal\.\n$/)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("does not ask to repeat what fails because of a certificate", () =>
    Effect.gen(function*() {
      const server = yield* Effect.acquireRelease(
        Effect.sync(() => createSecureServer({ cert, key }).listen(0, "127.0.0.1")),
        (server) => Effect.sync(() => server.close())
      )
      yield* Effect.promise(() => once(server, "listening"))
      const address = server.address()
      const port = address !== null && typeof address === "object" ? address.port : 0
      const variables = { IDENTITY_BASE_URL: `https://127.0.0.1:${port}/api/v2`, IDENTITY_TOKEN: "a-token" }
      const { args } = yield* prepared("")
      const { stderr } = yield* runAlone([...args, "--failed-since", "2020-01-01"], { variables })
      assert.match(stderr, /^TransportError: .*CERT\)\nMend this first\. Run the same command to resume; /)
    }))

  it.scopedLive("prints the summary and says how to resume if the journal cannot be written any more", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "redeliverEvent", delay: "300 millis", times: 2 })
      const { args, file, journal } = yield* prepared(`${first.id}\n${second.id}\n`)
      const { code, stderr, stdout } = yield* run([...args, "--json", "--concurrency", "1", "--file", file], {
        onWrite: (text) => {
          if (text.includes(first.id)) rmSync(journal, { recursive: true, force: true })
        }
      })
      assert.strictEqual(code, 1)
      assert.deepInclude(JSON.parse(stdout.trim().split("\n").at(-1) ?? ""), { done: 1, accepted: 1, stopped: false })
      assert.match(stderr, /^JournalError: .*\nMend this first. Run the same command to resume; the journal is .*\n$/s)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("names a wrong argument, with the usage and exit code 2, and sends nothing", () =>
    Effect.gen(function*() {
      const { args, file } = yield* prepared(`${first.id}\n`)
      for (
        const [wrong, message] of [
          [
            [...args, "--file", file, "--stop-after", "0"],
            "--stop-after: expected an integer of at least 1, or Infinity"
          ],
          [[...args, "--file", file, "--concurrency", "0"], "--concurrency: expected an integer of at least 1"],
          [[...args, "--failed-since", "noon"], "--failed-since: expected "],
          [["redeliver", "est_none", ...args.slice(2), "--file", file], "STREAM: expected "]
        ] as const
      ) {
        const { code, stderr, stdout } = yield* run(wrong)
        assert.deepStrictEqual([code, stdout], [2, ""])
        assert.isTrue(stderr.startsWith(message), stderr)
        assert.include(stderr, "\n\nUsage: effect-identity-client redeliver STREAM")
      }
      assert.deepStrictEqual(yield* sent, [])
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("redelivers what has failed since a time, and refuses ids beside it", () =>
    Effect.gen(function*() {
      const { args, file } = yield* prepared("")
      const since = ["--failed-since", "2020-01-01"]
      const { code, stdout } = yield* run([...args, ...since])
      assert.match(stdout, /^accepted {2}\d+ .*\n\d+ events in .*\n$/)
      assert.strictEqual(code, 0)
      assert.includeMembers(yield* sent, ["listDeliveries", "redeliverEvent"])
      const none = yield* run([...args, ...since, "--event-type", "no.such", "--event-type", "other"])
      assert.match(none.stdout, /^0 events in /)
      for (const wrong of [[...since, "--file", file], ["--event-type", "user.created"]]) {
        assert.strictEqual((yield* run([...args, ...wrong])).code, 2)
      }
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("lists at most ten reasons", () =>
    Effect.gen(function*() {
      const { injectFault, seed } = yield* Tenant.Tenant
      const ids = Array.from({ length: 12 }, (_, nth) => `evt_${String(nth).padStart(22, "0")}`)
      yield* seed({ streams: [{ id: stream.id, events: ids.map((id) => ({ id, state: "failed" as const })) }] })
      for (const nth of ids.keys()) {
        yield* injectFault({
          operation: "redeliverEvent",
          status: 400,
          body: { message: `reason ${"x".repeat(nth + 1)}` }
        })
      }
      const { args, file } = yield* prepared(ids.join("\n"))
      const { stdout } = yield* run([...args, "--file", file])
      assert.match(stdout, /\nand 2 other reasons; --json prints them all\n$/)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("draws a bar on a terminal, and removes it", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "redeliverEvent", delay: "400 millis" })
      const { args, file } = yield* prepared(`${first.id}\n${second.id}\n`)
      const { stderr } = yield* run([...args, "--file", file], { columns: 60 })
      assert.match(stderr, /\r\p{Cc}\[K[█░]{24} \d of 2, \d+\/s, .* left/u)
      assert.isTrue(stderr.endsWith("\r\u001b[K"))
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("confirms Ctrl-C, says how to resume, and resumes without sending an event twice", () =>
    Effect.gen(function*() {
      const { args, file, journal } = yield* prepared(`${first.id}\n${second.id}\n`)
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "redeliverEvent", delay: "200 millis" })
      const json = [...args, "--json", "--concurrency", "1", "--file", file]
      const interrupted = yield* run(json, { interruptAfter: first.id })
      assert.strictEqual(interrupted.code, 130)
      assert.match(interrupted.stderr, /^Waiting up to 5 s for running calls; press Ctrl-C again to abort them\n/)
      assert.include(interrupted.stderr, `Interrupted. Run the same command to resume; the journal is ${journal}\n`)
      const resumed = yield* run([...args, "--file", file])
      assert.match(resumed.stdout, /^accepted {2}2 .*\n2 events in .*, [12] of them already known\n$/)
      assert.deepStrictEqual([resumed.code, yield* sent], [0, ["redeliverEvent", "redeliverEvent"]])
    }).pipe(Effect.provide(TenantLive)))
})

describe("redeliver --one-call", () => {
  const args = ["redeliver", stream.id, "--one-call"]
  const since = ["--from", "2020-01-01"]

  /** Fails the first event again, with a message, once the service has queued it. */
  const failAgain = Effect.gen(function*() {
    const tenant = yield* Tenant.Tenant
    // The request is known before it is carried out, and then has a status.
    const hasStatus = Effect.map(
      tenant.requests,
      (requests) => requests.some(({ operation, status }) => operation === "redeliverEvents" && status !== undefined)
    )
    yield* until(hasStatus)
    const attempts = [...first.attempts, { timestamp: "2030-01-01T00:00:00.000Z", error_message: "bad\u0007 gateway" }]
    yield* tenant.seed({ streams: [{ ...stream, events: [{ ...first, state: "failed", attempts }] }] })
  })

  it.scopedLive("shows what matches, asks, and prints what became of each event", () =>
    Effect.gen(function*() {
      const declined = yield* run([...args, ...since], { reply: "n" })
      assert.deepStrictEqual([declined.code, declined.stdout], [1, ""])
      assert.include(declined.stderr, `${first.id}  user.created   2  `)
      assert.match(declined.stderr, /\nRedeliver 2 failed events\? \[y\/N\] Nothing was sent\.\n$/)
      const nobody = yield* run(args)
      assert.deepStrictEqual([nobody.code, nobody.stdout], [2, ""])
      assert.include(nobody.stderr, "add --yes")
      assert.notInclude(yield* sent, "redeliverEvents")

      yield* Effect.forkScoped(failAgain)
      const done = yield* run([...args, ...since, "--delivered-after", "1"], { reply: "yes" })
      const lines = done.stdout.split("\n")
      assert.deepStrictEqual(lines.slice(0, 4), [
        `${first.id}  failedAgain  bad\\u0007 gateway`,
        `${second.id}  delivered`,
        "delivered    1  no longer among the failed ones",
        "failedAgain  1  failed with a new attempt"
      ])
      assert.match(lines[4] ?? "", /^2 events in \d+s$/)
      assert.match(done.stderr, /1 of 2 have a result, 1 failed again, followed for \ds/)
      assert.strictEqual(done.code, 3)
      assert.lengthOf((yield* sent).filter((name) => name === "redeliverEvents"), 1)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("writes lines of JSON, and takes what has no result in time as pending", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(
        [...args, "--event-type", "user.created", "--yes", "--json", "--delivered-after", "1", "--follow-for", "2"]
      )
      const [result, summary] = stdout.trim().split("\n").map((line) => JSON.parse(line) as unknown)
      assert.deepStrictEqual(result, { id: first.id, outcome: "pending", attempts: 2 })
      assert.deepStrictEqual(
        summary,
        { done: 1, total: 1, request: "accepted", delivered: 0, failedAgain: 0, pending: 1 }
      )
      assert.match(stderr, /^evt_.*\n$/)
      assert.strictEqual(code, 3)
    }).pipe(Effect.provide(TenantLive)))

  it.live("succeeds if all are delivered, and makes no call without a match", () =>
    Effect.gen(function*() {
      const delivered = yield* run([...args, "--yes", "--delivered-after", "1"])
      assert.match(delivered.stdout, /^evt_.* {2}delivered\nevt_.* {2}delivered\ndelivered {2}2 /)
      assert.match(delivered.stderr, /^evt_.*\nevt_.*\n0 of 2 have a result, followed for [56]s\n$/)
      assert.strictEqual(delivered.code, 0)
      assert.deepStrictEqual(yield* run(args), { code: 0, stdout: "Nothing matches.\n", stderr: "" })
      const json = yield* run([...args, "--to", "2020-01-01", "--json"])
      assert.deepStrictEqual(JSON.parse(json.stdout), { done: 0, total: 0, delivered: 0, failedAgain: 0, pending: 0 })
      assert.lengthOf((yield* sent).filter((name) => name === "redeliverEvents"), 1)
    }).pipe(Effect.provide(QuickTenantLive)))

  it.live("sends nothing with --dry-run, and lists what it would send", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const asJson = yield* run([...args, "--dry-run", "--json"])
      const [due, , summary] = asJson.stdout.trim().split("\n").map((line) => JSON.parse(line) as unknown)
      assert.deepStrictEqual(due, { id: first.id, outcome: "due", attempts: 2 })
      assert.deepInclude(summary, { done: 2, total: 2, due: 2 })
      const ids = Array.from({ length: 12 }, (_, nth) => `evt_${String(nth).padStart(22, "0")}`)
      yield* tenant.seed({ streams: [{ id: stream.id, events: ids.map((id) => ({ id, state: "failed" as const })) }] })
      const { code, stdout } = yield* run([...args, "--dry-run"])
      assert.match(stdout, /^(?:evt_.*\n){10,19}1\d failed events would be sent\n$/)
      assert.deepStrictEqual([code, new Set(yield* sent)], [0, new Set(["listDeliveries"])])
    }).pipe(Effect.provide(TenantLive)))

  it.live("says on Ctrl-C what the service will still do", () =>
    Effect.gen(function*() {
      const tenant = yield* Tenant.Tenant
      const { injectFault } = tenant
      /** Whether these operations have been called, in this order, others between them. */
      const hasSent = (...operations: ReadonlyArray<string>) =>
        Effect.map(namesOf(tenant), (names) => new RegExp(operations.join(".*")).test(names.join()))
      yield* injectFault({ operation: "listDeliveries", delay: "10 minutes" })
      const before = yield* run([...args, "--yes"], { interruptWhen: hasSent("listDeliveries") })
      assert.deepStrictEqual([before.code, before.stderr], [130, "Interrupted. Nothing was sent.\n"])
      yield* injectFault({ operation: "redeliverEvents", delay: "10 minutes" })
      const during = yield* run([...args, "--yes"], { interruptWhen: hasSent("redeliverEvents") })
      assert.match(
        during.stderr,
        /\nInterrupted\. The service may have accepted the redelivery, .* is still failed\.\n$/
      )
      const after = yield* run([...args, "--yes", "--json"], {
        interruptWhen: hasSent("redeliverEvents", "redeliverEvents", "listDeliveries")
      })
      assert.match(after.stderr, /\nInterrupted\. The service goes on with the redelivery of all events: .*\n$/)
      assert.deepInclude(JSON.parse(after.stdout), { done: 0, total: 2, request: "accepted" })
      assert.deepStrictEqual([during.code, after.code], [130, 130])
    }).pipe(Effect.provide(TenantLive)))

  it.live("says that the service goes on if the redelivery cannot be followed, and why it was refused", () =>
    Effect.gen(function*() {
      const { injectFault } = yield* Tenant.Tenant
      yield* injectFault({ operation: "redeliverEvents", status: 409, body: { message: "The stream is disabled." } })
      const refused = yield* run([...args, "--yes"])
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
      assert.match(refused.stderr, /^evt_.*\nevt_.*\nConflict: redeliverEvents: The stream is disabled\.\n$/)
      const before = (yield* sent).length
      const hasCalled = (names: ReadonlyArray<string>) => names.slice(before).includes("redeliverEvents")
      const refuseLists = injectFault({
        operation: "listDeliveries",
        status: 403,
        body: { errorCode: "insufficient_scope", message: "Insufficient scope, expected any of: read:event_streams" }
      })
      yield* Effect.fork(
        Effect.zipRight(Effect.repeat(Effect.delay(sent, "20 millis"), { until: hasCalled }), refuseLists)
      )
      const blind = yield* run([...args, "--yes"])
      assert.deepStrictEqual([blind.code, blind.stdout], [1, ""])
      assert.match(blind.stderr, /\nThe service goes on with the redelivery of all events: .*\nInsufficientScope: /)
    }).pipe(Effect.provide(TenantLive)))

  it.live("names what fails: the stream, the time, and options that do not go together", () =>
    Effect.gen(function*() {
      const missing = yield* run(["redeliver", "est_0000000000000000000000", "--one-call", "--yes"])
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /^NotFound: /)
      const noon = yield* run([...args, "--from", "noon"])
      assert.strictEqual(noon.code, 2)
      assert.match(noon.stderr, /^--from: expected .*\n\nUsage: /)
      for (
        const [wrong, message] of [
          [[...args, "--failed-since", "2020-01-01"], "--failed-since cannot be used with --one-call."],
          [[...args, "--stop-after", "5"], "--stop-after cannot be used with --one-call."],
          [["redeliver", stream.id, "--from", "2020-01-01"], "--from needs --one-call."],
          [["redeliver", stream.id, "--yes"], "--yes needs --one-call."],
          [
            [...args, "--yes", "--delivered-after", "700"],
            "--delivered-after (700 s) must be shorter than --follow-for (600 s): else no event counts as delivered."
          ],
          [
            [...args, "--yes", "--follow-for", "60"],
            "--delivered-after (60 s) must be shorter than --follow-for (60 s)"
          ]
        ] as const
      ) {
        const { code, stderr } = yield* run(wrong)
        assert.strictEqual(code, 2)
        assert.include(stderr, message)
      }
      assert.notInclude(yield* sent, "redeliverEvents")
    }).pipe(Effect.provide(TenantLive)))
})

describe("deliveries", () => {
  it.live("lists failed deliveries, as lines or as JSON, and none of another time", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["deliveries", stream.id])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.match(stdout, new RegExp(`^${first.id}  \\S+ +\\d+  \\d{4}-\\S+Z`, "m"))
      const json = yield* run(["deliveries", stream.id, "--json", "--event-type", "no.such"])
      assert.deepStrictEqual(json, { code: 0, stdout: "", stderr: "" })
      const all = yield* run(["deliveries", stream.id, "--json", "--from", "2020-01-01"])
      const ids = all.stdout.trim().split("\n").map((line) => (JSON.parse(line) as { id: string }).id)
      assert.includeMembers(ids, [first.id, second.id])
      assert.strictEqual((yield* run(["deliveries", stream.id, "--to", "2020-01-01"])).stdout, "")
    }).pipe(Effect.provide(TenantLive)))

  it.live("lists each delivery on a line of its own, without control characters in lines of JSON", () =>
    Effect.gen(function*() {
      const { seed } = yield* Tenant.Tenant
      const attempts = [{ ...first.attempts[0], error_message: "bad\n\tgateway\u009b2J" }]
      yield* seed({ streams: [{ ...stream, events: [{ ...first, state: "failed", attempts }] }] })
      const { stdout } = yield* run(["deliveries", stream.id])
      assert.match(stdout, /^evt_.* {2}bad\\u000a\\u0009gateway\\u009b2J\n$/)
      const json = yield* run(["deliveries", stream.id, "--json"])
      assert.match(json.stdout, /^\{.*"bad\\n\\tgateway\\u009b2J".*\}\n$/)
    }).pipe(Effect.provide(TenantLive)))

  it.live("names a stream that does not exist with exit code 3, and a wrong time", () =>
    Effect.gen(function*() {
      const missing = yield* run(["deliveries", "est_0000000000000000000000"])
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /^NotFound: /)
      for (
        const [wrong, message] of [
          [[stream.id, "--from", "noon"], "--from: expected "],
          [["est_none"], "STREAM: expected "],
          [[stream.id, "--event-type", "a,b"], "--event-type: expected a type of event, without commas"],
          [
            [stream.id, "--from", "2026-02-01", "--to", "2026-01-01"],
            "--to: expected a time that is not before --from"
          ]
        ] as const
      ) {
        const { code, stderr } = yield* run(["deliveries", ...wrong])
        assert.strictEqual(code, 2)
        assert.isTrue(stderr.startsWith(message), stderr)
        assert.include(stderr, "\n\nUsage: effect-identity-client deliveries STREAM")
      }
      assert.deepStrictEqual(yield* sent, ["listDeliveries"])
    }).pipe(Effect.provide(TenantLive)))
})

describe("export", () => {
  const inFolder = Effect.map(prepared(""), ({ file }) => `${file}.out`)
  const read = (path: string) =>
    Effect.provide(
      Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readFileString(path)),
      NodeContext.layer
    )

  it.scopedLive("writes a file, with progress on a terminal, and starts one job", () =>
    Effect.gen(function*() {
      const out = yield* inFolder
      const { code, stderr, stdout } = yield* run(
        ["export", "--out", out, "--format", "csv", "--limit", "2", "email=E-mail", "name"],
        { columns: 80 }
      )
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^file {2}\S+\njob {3}job_\w+\nrows {2}\d+\nsize {2}\d+ bytes\n$/)
      assert.match(stderr, /\[K█*░+ the job runs, /)
      assert.match(yield* read(out), /^"?E-mail"?,"?name"?\r?\n/)
      assert.lengthOf((yield* sent).filter((name) => name === "createUsersExport"), 1)
      const again = yield* run(["export", "--out", out])
      assert.deepStrictEqual([again.code, again.stdout], [1, ""])
      assert.strictEqual(again.stderr, "ExportError: the file is there already; --overwrite replaces it\n")
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("refuses a folder as its file with exit code 2, and sends nothing", () =>
    Effect.gen(function*() {
      const out = yield* inFolder
      for (const path of ["", dirname(out)]) {
        const { code, stderr } = yield* run(["export", "--out", path, "--overwrite"])
        assert.match(stderr, /^--out: expected the name of a file\n\nUsage: /)
        assert.deepStrictEqual([code, yield* sent], [2, []])
      }
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("advises no option against a folder that appears while it waits for a token", () =>
    Effect.gen(function*() {
      const out = yield* inFolder
      const server = () => createServer(({ url }) => void (url?.startsWith("/oauth/token") && mkdirSync(out)))
      const { code, stderr } = yield* run(["export", "--out", out]).pipe(
        Effect.provide(Tenant.layerServer.pipe(
          Layer.provide(Tenant.layer),
          Layer.provideMerge(NodeHttpServer.layer(server, { host: "127.0.0.1", port: 0 }))
        ))
      )
      assert.deepStrictEqual([code, stderr], [1, "ExportError: there is a folder of this name\n"])
    }))

  it.scopedLive("shows the id of a job without control characters after Ctrl-C", () =>
    Effect.gen(function*() {
      const { injectFault, requests } = yield* Tenant.Tenant
      const job = { id: "job_\u001b[2J", status: "pending", type: "users_export" }
      yield* injectFault({ operation: "createUsersExport", status: 201, body: job })
      yield* injectFault({ operation: "getJob", delay: "10 minutes" })
      const isAsked = Effect.map(requests, (requests) => requests.some(({ operation }) => operation === "getJob"))
      const { stderr } = yield* run(["export", "--out", yield* inFolder, "--json"], {
        interruptWhen: isAsked
      })
      assert.strictEqual(
        stderr,
        "Interrupted. Run the same command to go on with job_\\u001b[2J, for 24 hours.\n"
      )
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("goes on with the same job after Ctrl-C", () =>
    Effect.gen(function*() {
      const out = yield* inFolder
      const args = ["export", "--out", out, "--json"]
      const isAsked = Effect.map(namesOf(yield* Tenant.Tenant), (names) => names.includes("getJob"))
      const interrupted = yield* run(args, { interruptWhen: isAsked })
      assert.strictEqual(interrupted.code, 130)
      const [, job = ""] =
        /^Interrupted\. Run the same command to go on with (job_\w+), for 24 hours\.\n$/.exec(interrupted.stderr) ?? []
      const { code, stdout } = yield* run(args)
      assert.strictEqual(code, 0)
      assert.deepInclude(JSON.parse(stdout), { path: out, job })
      assert.lengthOf((yield* sent).filter((name) => name === "createUsersExport"), 1)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("names an invalid field with exit code 2, and sends nothing", () =>
    Effect.gen(function*() {
      for (const field of ["=Name", "email=", "x".repeat(101), `email=${"x".repeat(101)}`]) {
        const { code, stderr } = yield* run(["export", "--out", "never", field])
        assert.deepStrictEqual([code, yield* sent], [2, []])
        assert.match(stderr, /^The field "[^"]*" has /)
      }
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("names a wrong argument, with exit code 2, and a job that does not exist, with exit code 3", () =>
    Effect.gen(function*() {
      const out = yield* inFolder
      for (
        const [wrong, message] of [
          [["--limit", "0"], "--limit: expected an integer of at least 1"],
          [["--connection", "con_1"], "--connection: expected "]
        ] as const
      ) {
        const { code, stderr } = yield* run(["export", "--out", out, ...wrong])
        assert.deepStrictEqual([code, yield* sent], [2, []])
        assert.isTrue(stderr.startsWith(message), stderr)
        assert.include(stderr, "\n\nUsage: effect-identity-client export --out FILE")
      }
      const missing = yield* run(["export", "--out", out, "--job", "job_0000000000000000"])
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /^NotFound: /)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("names the options that help if an earlier run may have started a job", () =>
    Effect.gen(function*() {
      const out = yield* inFolder
      writeFileSync(`${out}.export.json`, "")
      const { code, stderr } = yield* run(["export", "--out", out])
      assert.deepStrictEqual([code, yield* sent], [1, []])
      assert.match(stderr, /^ExportError: an earlier run .* with --job, or .* with --start-again\n$/)
    }).pipe(Effect.provide(TenantLive)))
})

describe("delete", () => {
  it.live("asks, and deletes after a yes, or with --yes", () =>
    Effect.gen(function*() {
      const no = yield* run(["delete", stream.id], { reply: "n" })
      assert.deepStrictEqual([no.code, no.stdout, yield* sent], [1, "", []])
      assert.match(no.stderr, /Nothing was deleted\.\n$/)
      const refused = yield* run(["delete", stream.id])
      assert.deepStrictEqual([refused.code, yield* sent], [2, []])
      const done = yield* run(["delete", stream.id], { reply: "yes", columns: 80 })
      assert.deepStrictEqual([done.code, done.stdout], [0, `event stream ${stream.id} is deleted\n`])
      assert.include(done.stderr, "\u001b[1mDelete event stream")
      const json = yield* run(["delete", "--yes", "--json", stream.id])
      assert.deepStrictEqual(json, { code: 0, stdout: `{"id":"${stream.id}"}\n`, stderr: "" })
      assert.deepStrictEqual(yield* sent, ["deleteEventStream", "deleteEventStream"])
      const wrong = yield* run(["delete", "--yes", "est_none"])
      assert.deepStrictEqual([wrong.code, wrong.stdout], [2, ""])
      assert.match(wrong.stderr, /^STREAM: expected .*\n\nUsage: effect-identity-client delete STREAM/)
    }).pipe(Effect.provide(TenantLive)))
})

describe("update", () => {
  it.live("changes the profile, and prints its name or the whole of it", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* run(["update", profile.id, "--name", "Renamed"])
      assert.deepStrictEqual([code, stdout], [0, `profile ${profile.id} is updated: Renamed\n`])
      const json = yield* run(["update", profile.id, "--subject-token-type", "urn:example:token", "--json"])
      assert.deepInclude(JSON.parse(json.stdout), { name: "Renamed", subject_token_type: "urn:example:token" })
    }).pipe(Effect.provide(TenantLive)))

  it.live("names a value that is invalid, and a profile that does not exist with exit code 3", () =>
    Effect.gen(function*() {
      const short = yield* run(["update", profile.id, "--name", "x"])
      assert.strictEqual(short.code, 2)
      assert.match(short.stderr, /^--name: expected .*\n\nUsage: effect-identity-client update PROFILE/)
      const both = yield* run(["update", profile.id, "--name", "x", "--subject-token-type", "no URI"])
      assert.strictEqual(both.code, 2)
      assert.match(both.stderr, /^--name: expected .*\n--subject-token-type: expected .*\n\nUsage: /)
      const missing = yield* run(["update", "tep_none", "--name", "Renamed"])
      assert.strictEqual(missing.code, 3)
      assert.match(missing.stderr, /^NotFound: /)
    }).pipe(Effect.provide(TenantLive)))
})

describe("tenant", () => {
  it.scopedLive("serves until it is interrupted; a port that is taken is named, with exit code 1", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run(["tenant", "--port", "0", "--json"], { interruptAfter: "IDENTITY_BASE_URL" })
      const variables = JSON.parse(stdout) as Record<string, string>
      assert.match(variables["IDENTITY_TOKEN_URL"] ?? "", /^http:\/\/127\.0\.0\.1:\d+\/oauth\/token$/)
      assert.deepInclude(variables, { IDENTITY_CLIENT_ID: "demo-full", IDENTITY_CLIENT_SECRET: "demo-full-secret" })
      const port = new URL(variables["IDENTITY_AUTH_URL"] ?? "").port
      const isServing = yield* Deferred.make<void>()
      const onWrite = (text: string) => {
        if (text.includes("Ctrl-C to stop")) Deferred.unsafeDone(isServing, Effect.void)
      }
      const serving = yield* Effect.fork(run(["tenant", "--port", port], { onWrite }))
      yield* Deferred.await(isServing)
      const taken = yield* run(["tenant", "--port", port])
      assert.deepStrictEqual(taken, {
        code: 1,
        stdout: "",
        stderr: `Port ${port} is already in use. Choose another, for example: --port ${Number(port) + 1}\n`
      })
      yield* Fiber.interrupt(serving)
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("prints the variables and a line for each request, and serves a seed", () =>
    Effect.gen(function*() {
      const { file } = yield* prepared(
        JSON.stringify({ actions: [{ id: "mine", versions: [{ id: "v1", number: 7 }] }] })
      )
      const responses: Array<number> = []
      const { stdout } = yield* run(["tenant", "--port", "0", "--seed", file], {
        interruptAfter: "Ctrl-C to stop",
        beforeInterrupt: (stdout) =>
          Effect.promise(async () => {
            const [, origin = ""] = /listens at (\S+)/.exec(stdout) ?? []
            const credentials = { client_id: "demo-full", client_secret: "demo-full-secret" }
            const token = await fetch(`${origin}/oauth/token`, {
              method: "POST",
              body: new URLSearchParams({
                grant_type: "client_credentials",
                ...credentials,
                audience: `${origin}/api/v2/`
              })
            })
            const { access_token } = await token.json() as { access_token: string }
            const headers = { authorization: `Bearer ${access_token}` }
            for (
              const path of ["/", "/docs", "/api/v2/actions/actions/mine/versions", "/nowhere", "/_tenant/page.js"]
            ) {
              responses.push((await fetch(`${origin}${path}`, { headers })).status)
            }
          })
      })
      assert.deepStrictEqual(responses, [200, 200, 200, 404, 403])
      assert.match(
        stdout,
        /^The tenant listens at http:\/\/127\.0\.0\.1:\d+\n\nVariables for a client\n {2}export IDENTITY_BASE_URL=/
      )
      assert.notInclude(stdout, "Ids to try")
      assert.match(
        stdout,
        /\n200 POST {3}\/oauth\/token\n200 GET {4}\/api\/v2\/actions\/actions\/mine\/versions\n404 GET {4}\/nowhere\n$/
      )
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("prints the key of the control interface, a new one or that of the environment, and no line for its requests", () =>
    Effect.gen(function*() {
      const serve = (variables: Readonly<Record<string, string>>) => {
        const statuses: Array<number> = []
        return Effect.map(
          run(["tenant", "--port", "0", "--json"], {
            variables,
            interruptAfter: "IDENTITY_CONTROL_KEY",
            beforeInterrupt: (stdout) =>
              Effect.promise(async () => {
                const { IDENTITY_CONTROL_KEY: key, IDENTITY_CONTROL_URL: url } = JSON.parse(stdout)
                for (const headers of [{ "x-tenant-key": key }, { "x-tenant-key": "another key" }]) {
                  statuses.push((await fetch(`${url}/state`, { headers })).status)
                }
              })
          }),
          ({ code, stderr, stdout }) => ({ code, stderr, statuses, lines: stdout.trim().split("\n") })
        )
      }
      const keys = new Set<string>()
      for (const variables of [{}, {}, { IDENTITY_CONTROL_KEY: "a-key-of-my-own_1" }]) {
        const { lines, statuses } = yield* serve(variables)
        assert.deepStrictEqual(statuses, [200, 403])
        assert.lengthOf(lines, 1)
        keys.add(JSON.parse(lines[0] ?? "").IDENTITY_CONTROL_KEY)
      }
      assert.strictEqual(keys.size, 3)
      assert.isTrue(keys.has("a-key-of-my-own_1"))
      const { code, stderr } = yield* run(["tenant", "--port", "0"], { variables: { IDENTITY_CONTROL_KEY: "short" } })
      assert.strictEqual(code, 2)
      assert.match(stderr, /IDENTITY_CONTROL_KEY must have at least 16/)
      assert.notInclude(stderr, "short")
    }).pipe(Effect.provide(TenantLive)))

  it.scopedLive("refuses a seed that it cannot serve, with exit code 2", () =>
    Effect.gen(function*() {
      for (const text of ["{", "{\"acions\":[]}", "{\"actions\":[{\"id\":\"a\"}]}"]) {
        const { file } = yield* prepared(text)
        const { code, stderr } = yield* run(["tenant", "--seed", file])
        assert.strictEqual(code, 2)
        assert.include(stderr, `${file} is not a seed: `)
      }
    }).pipe(Effect.provide(TenantLive)))
})

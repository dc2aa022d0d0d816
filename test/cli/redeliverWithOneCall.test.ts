/** Tests `redeliver --one-call` in virtual time against a service of handlers: what it shows, asks, prints and ends with. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Errors } from "../../src/index.js"
import { idOf, ids, stream, transport } from "../support/redelivery.js"
import * as VirtualTime from "../support/virtualTime.js"
import { lineOf, linesOf, redeliver, service } from "./support/failedEvents.js"
import { terminal } from "./support/record.js"

const inVirtualTime = <A, E>(test: Effect.Effect<A, E>) => VirtualTime.run(test, { most: "1 hours" })

const later = `effect-identity-client deliveries ${stream} lists what is still failed.`
const goesOn = `The service goes on with the redelivery of all events: ${later}\n`
const mayGoOn = `The service may have accepted the redelivery, and then goes on with it: ${later}\n`

describe("a dry run of a redelivery with one call", () => {
  const rows = [
    [0, "0 failed events would be sent\n"],
    [1, `${linesOf(1)}1 failed event would be sent\n`],
    [10, `${linesOf(10)}10 failed events would be sent\n`],
    [13, `${linesOf(13)}13 failed events would be sent\n`]
  ] as const
  for (const [count, stdout] of rows) {
    it.effect(`lists ${count} events, and sends nothing`, () =>
      Effect.gen(function*() {
        const tenant = service(count)
        const { ended } = yield* redeliver(tenant, { dryRun: true, yes: false })
        assert.deepStrictEqual(yield* ended, { code: 0, stdout, stderr: "" })
        assert.deepStrictEqual(tenant.calls, [])
      }).pipe(inVirtualTime))
  }

  it.effect("lists all events as lines of JSON", () =>
    Effect.gen(function*() {
      const { ended } = yield* redeliver(service(2), { dryRun: true, json: true })
      const stdout = [
        ...ids(2).map((id) => `{"id":"${id}","outcome":"due","attempts":1}`),
        "{\"done\":2,\"total\":2,\"delivered\":0,\"failedAgain\":0,\"pending\":0,\"due\":2}\n"
      ].join("\n")
      assert.deepStrictEqual(yield* ended, { code: 0, stdout, stderr: "" })
    }).pipe(inVirtualTime))
})

describe("a redelivery with one call", () => {
  it.effect("shows what matches, and prints what becomes of each event and a summary", () =>
    Effect.gen(function*() {
      const tenant = service(3)
      const { ended, written } = yield* redeliver(tenant, { deliveredAfter: 3, followFor: 14 })
      yield* Effect.sleep("1 seconds")
      assert.deepStrictEqual(written(), { stdout: "", stderr: linesOf(3) })
      tenant.failed.delete(idOf(0))
      tenant.failAgain(idOf(1), "bad\u0007 gateway")
      assert.deepStrictEqual(yield* ended, {
        code: 3,
        stdout: [
          `${idOf(1)}  failedAgain  bad\\u0007 gateway`,
          `${idOf(0)}  delivered`,
          `${idOf(2)}  pending`,
          "delivered    1  no longer among the failed ones",
          "failedAgain  1  failed with a new attempt",
          "pending      1  no result so far; check again later with deliveries",
          "3 events in 14s\n"
        ].join("\n"),
        stderr: `${linesOf(3)}1 of 3 have a result, 1 failed again, followed for 5s\n` +
          "2 of 3 have a result, 1 failed again, followed for 10s\n"
      })
      assert.deepStrictEqual(tenant.calls, [{ id: stream, statuses: ["failed"] }])
      for (const list of tenant.lists) assert.notProperty(list, "event_types")
    }).pipe(inVirtualTime))

  it.effect("counts an event as delivered after a minute, and succeeds if all are", () =>
    Effect.gen(function*() {
      const tenant = service(1, Effect.sleep("6 seconds"))
      const { ended } = yield* redeliver(tenant)
      yield* Effect.sleep("7 seconds")
      tenant.failed.clear()
      const { code, stderr, stdout } = yield* ended
      // missing from the list 2 s after the call, and from that a minute later
      assert.strictEqual(
        stdout,
        `${idOf(0)}  delivered\ndelivered  1  no longer among the failed ones\n1 event in 1m 8s\n`
      )
      const [event, ...lines] = stderr.trimEnd().split("\n")
      assert.deepStrictEqual([event, lines.slice(0, 2), lines.at(-1)], [
        lineOf(idOf(0)).trimEnd(),
        ["waiting for the call", "0 of 1 have a result, followed for 10s"],
        "0 of 1 have a result, followed for 1m 5s"
      ])
      assert.strictEqual(code, 0)
    }).pipe(inVirtualTime))

  it.effect("follows for ten minutes, and ends with code 3 for an event without a result", () =>
    Effect.gen(function*() {
      const { ended, written } = yield* redeliver(service(1), { json: true })
      yield* Effect.sleep("599 seconds")
      assert.strictEqual(written().stdout, "")
      yield* Effect.sleep("1 seconds")
      assert.deepStrictEqual(yield* ended, {
        code: 3,
        stdout: `{"id":"${idOf(0)}","outcome":"pending","attempts":1}\n` +
          "{\"done\":1,\"total\":1,\"request\":\"accepted\",\"delivered\":0,\"failedAgain\":0,\"pending\":1}\n",
        stderr: lineOf(idOf(0))
      })
    }).pipe(inVirtualTime))

  it.effect("ends with code 3 if an event has failed again, and asks for the events of the filter", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      const filter = { eventTypes: ["user.created", "user.deleted"], from: "2029-12-31", to: "2030-01-31" }
      const { ended } = yield* redeliver(tenant, { ...filter, json: true })
      yield* Effect.sleep("1 seconds")
      tenant.failAgain(idOf(0), "no route")
      yield* Effect.sleep("1 seconds")
      const { code, stdout } = yield* ended
      assert.deepStrictEqual([code, stdout.split("\n")[0]], [
        3,
        `{"id":"${idOf(0)}","outcome":"failedAgain","attempts":2,"error":"no route"}`
      ])
      const dates = { date_from: "2029-12-31T00:00:00Z", date_to: "2030-01-31T00:00:00Z" }
      assert.deepStrictEqual(tenant.calls, [
        { id: stream, statuses: ["failed"], event_types: filter.eventTypes, ...dates }
      ])
      const [list] = tenant.lists
      assert.deepStrictEqual(list, {
        id: stream,
        statuses: "failed",
        event_types: "user.created,user.deleted",
        ...dates,
        take: 100
      })
    }).pipe(inVirtualTime))

  it.effect("draws a bar on a terminal, whose place the results take", () =>
    Effect.gen(function*() {
      const tenant = service(2)
      const { ended } = yield* redeliver(tenant, {}, { output: terminal(60), errorOutput: terminal(60) })
      yield* Effect.sleep("1 seconds")
      tenant.failAgain(idOf(0), "a message that is longer than the line of the terminal")
      tenant.failAgain(idOf(1), "no")
      yield* Effect.sleep("1 seconds")
      const { stderr, stdout } = yield* ended
      assert.strictEqual(
        stdout.split("\n")[0],
        `${idOf(0)}  failedAgain  a message that is …`
      )
      const [first, second, ...drawn] = stderr.replaceAll("\r\u001b[K", "\n").split("\n")
      assert.deepStrictEqual([first, second], [
        `${idOf(0)}  user.created   1  2030-01-01T00…`,
        `${idOf(1)}  user.created   1  2030-01-01T00…`
      ])
      assert.deepStrictEqual(drawn.slice(0, 2), ["", `${"░".repeat(21)} 0 of 2 have a result, followed for 1s`])
      assert.deepStrictEqual(drawn.slice(-3), ["", "", ""])
    }).pipe(inVirtualTime))
})

describe("the question before a redelivery with one call", () => {
  const asked = (reply: string) => {
    const questions: Array<string> = []
    const streams = {
      inputIsTerminal: true,
      errorOutput: terminal(80),
      ask: (question: string) => Effect.sync(() => void questions.push(question)).pipe(Effect.as(reply))
    }
    return { questions, streams }
  }

  it.effect("counts the events; after a no, nothing is sent", () =>
    Effect.gen(function*() {
      for (const [count, question] of [[1, "1 failed event"], [12, "12 failed events"]] as const) {
        const tenant = service(count)
        const { questions, streams } = asked("n")
        const { ended } = yield* redeliver(tenant, { yes: false }, streams)
        const { code, stderr, stdout } = yield* ended
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.strictEqual(
          stderr,
          `${linesOf(Math.min(10, count))}${count > 10 ? "and 2 more\n" : ""}Nothing was sent.\n`
        )
        assert.deepStrictEqual([questions, tenant.calls], [[`Redeliver ${question}? [y/N] `], []])
      }
    }).pipe(inVirtualTime))

  it.effect("is not asked with --yes, and not without a match", () =>
    Effect.gen(function*() {
      for (
        const [json, stdout] of [
          [false, "Nothing matches.\n"],
          [true, "{\"done\":0,\"total\":0,\"delivered\":0,\"failedAgain\":0,\"pending\":0}\n"]
        ] as const
      ) {
        const tenant = service(0)
        const { questions, streams } = asked("y")
        const { ended } = yield* redeliver(tenant, { yes: false, json }, streams)
        assert.deepStrictEqual(yield* ended, { code: 0, stdout, stderr: "" })
        assert.deepStrictEqual([questions, tenant.calls], [[], []])
      }
      const { questions, streams } = asked("n")
      const { ended } = yield* redeliver(service(1), { followFor: 2, deliveredAfter: 1 }, streams)
      yield* Effect.sleep("2 seconds")
      assert.deepStrictEqual([(yield* ended).code, questions], [3, []])
    }).pipe(inVirtualTime))
})

describe("the end of a redelivery with one call", () => {
  it.effect("says after Ctrl-C before the call that nothing was sent", () =>
    Effect.gen(function*() {
      const tenant = service(1)
      tenant.state.onList = Effect.never
      const { interrupted } = yield* redeliver(tenant)
      yield* Effect.sleep("1 seconds")
      assert.deepStrictEqual(yield* interrupted, {
        code: 130,
        stdout: "",
        stderr: "Interrupted. Nothing was sent.\n"
      })
    }).pipe(inVirtualTime))

  it.effect("says after Ctrl-C what the service goes on with, or may go on with, after a summary", () =>
    Effect.gen(function*() {
      for (
        const [response, json, summary, message] of [
          [Effect.void, false, "0 events in 0s\n", goesOn],
          [
            Effect.void,
            true,
            "{\"done\":0,\"total\":1,\"request\":\"accepted\",\"delivered\":0,\"failedAgain\":0,\"pending\":0}\n",
            goesOn
          ],
          [Effect.never, false, "0 events in 0s\n", mayGoOn]
        ] as const
      ) {
        const { interrupted } = yield* redeliver(service(1, response), { json })
        yield* Effect.sleep("1 seconds")
        assert.deepStrictEqual(yield* interrupted, {
          code: 130,
          stdout: summary,
          stderr: `${lineOf(idOf(0))}Interrupted. ${message}`
        })
      }
    }).pipe(inVirtualTime))

  const forbidden = new Errors.Forbidden({ operation: "listDeliveries", message: "No." })
  const unknown = transport("unknown")
  for (
    const [title, response, message] of [
      ["that the service goes on", Effect.void, goesOn],
      ["that it may go on, after a call without a response", Effect.fail(unknown), mayGoOn]
    ] as const
  ) {
    it.effect(`says ${title} if the events cannot be followed`, () =>
      Effect.gen(function*() {
        const tenant = service(1, response)
        const { ended } = yield* redeliver(tenant)
        yield* Effect.sleep("1 seconds")
        tenant.state.onList = Effect.fail(forbidden)
        yield* Effect.sleep("1 seconds")
        assert.deepStrictEqual(yield* ended, {
          code: 1,
          stdout: "",
          stderr: `${lineOf(idOf(0))}${message}Forbidden: listDeliveries: No.\n`
        })
      }).pipe(inVirtualTime))
  }

  it.effect("says only why the call was refused, since nothing goes on", () =>
    Effect.gen(function*() {
      const { ended } = yield* redeliver(
        service(
          1,
          Effect.fail(new Errors.Conflict({ operation: "redeliverEvents", message: "The stream is disabled." }))
        )
      )
      assert.deepStrictEqual(yield* ended, {
        code: 1,
        stdout: "",
        stderr: `${lineOf(idOf(0))}Conflict: redeliverEvents: The stream is disabled.\n`
      })
    }).pipe(inVirtualTime))
})

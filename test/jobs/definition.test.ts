/** Tests of what a job is: which fields it may have, the text that is stored of it, and the settings of its runs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { InvalidInput } from "../../src/Errors.js"
import { IdentityClient } from "../../src/IdentityClient.js"
import * as Jobs from "../../src/Jobs.js"
import { encodeJob, eventIssue } from "../../src/jobs/definition.js"
import { validateRunOptions } from "../../src/jobs/model.js"
import * as Node from "../../src/Node.js"
import { night } from "../support/jobs.js"
import { idOf, stream } from "../support/redelivery.js"

const notPrintable = "expected 1 to 200 characters that can be printed"

describe("the definition of a job", () => {
  it.effect.each<readonly [string, Partial<Jobs.Identity>, string]>([
    ["a tenant that begins with a control character", { tenant: "\u0000acme" }, "tenant"],
    ["a tenant that ends with a line break", { tenant: "acme\n" }, "tenant"],
    ["a key of 201 characters", { key: "k".repeat(201) }, "key"],
    ["a key without characters", { key: "" }, "key"]
  ])("refuses %s, and says what it expects", ([, change, path]) =>
    Effect.gen(function*() {
      for (const job of [Jobs.redelivery({ ...night, ...change }), Jobs.export({ ...night, ...change, input: {} })]) {
        assert.deepInclude(yield* Effect.flip(encodeJob(job)), {
          _tag: "InvalidInput",
          operation: "Jobs.submit",
          issues: [{ path, message: notPrintable }]
        })
      }
    }))

  it.effect("takes names of 200 characters of any language", () =>
    Effect.gen(function*() {
      const name = "\u{10000}".repeat(200)
      assert.strictEqual(yield* encodeJob(Jobs.export({ tenant: name, key: name, input: {} })), "{}")
    }))

  it.effect("refuses a filter beside events, unless its fields are undefined", () =>
    Effect.gen(function*() {
      const events = [idOf(0)]
      const filter = { eventTypes: undefined, from: undefined, to: undefined }
      assert.strictEqual(
        yield* encodeJob(Jobs.redelivery({ ...night, events, filter })),
        JSON.stringify({ stream, isListed: true, filter: {} })
      )
      const refused = encodeJob(Jobs.redelivery({ ...night, events, filter: { ...filter, to: "2026-01-01" } }))
      assert.deepStrictEqual((yield* Effect.flip(refused)).issues, [
        { path: "filter", message: "expected no filter beside `events`" }
      ])
    }))

  it.effect("is the same text in each version of this library", () =>
    Effect.gen(function*() {
      const filter = { eventTypes: ["user.created"], from: "2026-01-01", to: "2026-01-02" }
      assert.strictEqual(
        yield* encodeJob(Jobs.redelivery({ ...night, filter })),
        `{"stream":"${stream}","isListed":false,"filter":{"eventTypes":["user.created"],` +
          "\"from\":\"2026-01-01T00:00:00Z\",\"to\":\"2026-01-02T00:00:00Z\"}}"
      )
      const fields = [{ name: "user_id", export_as: "id" }]
      assert.strictEqual(
        yield* encodeJob(Jobs.export({ ...night, input: { limit: 5, format: "csv", fields } })),
        "{\"fields\":[{\"export_as\":\"id\",\"name\":\"user_id\"}],\"format\":\"csv\",\"limit\":5}"
      )
    }))

  it("names an event that has no valid id by its place in the list", () => {
    assert.isUndefined(eventIssue(stream, idOf(3), 3))
    assert.deepInclude(eventIssue(stream, "another", 3), {
      operation: "Jobs.submit",
      issues: [{ path: "events[3]", message: "expected the id of an event" }]
    })
  })
})

describe("the settings of runs", () => {
  it.effect("say what they expect", () =>
    Effect.gen(function*() {
      const options = {
        concurrency: 0,
        stopAfter: 0,
        lockExpiry: "99 millis",
        grace: "61 minutes",
        pollInterval: 9
      } as const
      assert.deepInclude(yield* Effect.flip(validateRunOptions("Jobs.layerMemoryWith", options)), {
        operation: "Jobs.layerMemoryWith",
        issues: [
          { path: "concurrency", message: "expected an integer of at least 1" },
          { path: "stopAfter", message: "expected an integer of at least 1" },
          { path: "lockExpiry", message: "expected a duration from 100ms to 1h" },
          { path: "grace", message: "expected a duration from 0 to 1h" },
          { path: "pollInterval", message: "expected a duration from 10ms to 1m" }
        ]
      })
    }))

  it.effect.each(
    [
      ["the defaults", {}],
      ["no limit to failures", { stopAfter: Infinity }],
      ["the least", { concurrency: 1, stopAfter: 1, lockExpiry: "100 millis", grace: 0, pollInterval: "10 millis" }],
      ["the most", { lockExpiry: "1 hour", grace: "1 hour", pollInterval: "1 minute" }]
    ] as const
  )(
    "take %s",
    ([, options]) =>
      Effect.map(
        Effect.exit(validateRunOptions("Jobs.layerMemoryWith", options)),
        ({ _tag }) => assert.strictEqual(_tag, "Success")
      )
  )
})

it.scoped("layers of jobs name themselves where they refuse an option, and make nothing then", () =>
  Effect.gen(function*() {
    const operationOf = (layer: Layer.Layer<Jobs.Jobs, InvalidInput | Jobs.JobStoreError, Jobs.Tenants>) =>
      Layer.provide(layer, Jobs.layerTenants(() => Layer.effect(IdentityClient, Effect.die("no client is made")))).pipe(
        Layer.build,
        Effect.scoped,
        Effect.flip,
        Effect.map((error) => "operation" in error ? error.operation : error._tag)
      )
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "jobs-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const directory = join(folder, "none")
    assert.deepStrictEqual(
      [
        yield* operationOf(Jobs.layerMemoryWith({ concurrency: 0 })),
        yield* operationOf(Node.layerJobs(directory, { concurrency: 0 }))
      ],
      ["Jobs.layerMemoryWith", "Node.layerJobs"]
    )
    assert.isFalse(existsSync(directory))
  }))

it("the services and errors of jobs have names that copies of this library share", () => {
  assert.deepStrictEqual([Jobs.Jobs.key, Jobs.Tenants.key], [
    "effect-identity-client/Jobs",
    "effect-identity-client/Jobs/Tenants"
  ])
  const message = "no"
  const errors = [
    new Jobs.JobNotFound({ id: "a", message }),
    new Jobs.JobConflict({ id: "a", message }),
    new Jobs.JobStoreError({ message }),
    new Jobs.RowsUnavailable({ id: "a", message }),
    new Jobs.TenantFailure({ error: message })
  ]
  assert.deepStrictEqual(errors.map(({ _tag }) => _tag), [
    "JobNotFound",
    "JobConflict",
    "JobStoreError",
    "RowsUnavailable",
    "TenantFailure"
  ])
})

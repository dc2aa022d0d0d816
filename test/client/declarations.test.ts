/** Tests of declarations that throw when they are first needed. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { Errors, type IdentityClient, Operation } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { scripted } from "../support/client.js"

const shared = {
  method: "GET",
  path: "/a",
  scope: "read:things",
  idempotent: true,
  error: [Errors.RateLimited]
} as const

/** The defect of a call, and the requests that it made. */
const defectOf = (call: Effect.Effect<unknown, unknown, IdentityClient.IdentityClient>) =>
  Effect.gen(function*() {
    const exit = yield* Effect.exit(call)
    assert.lengthOf(yield* Testing.requests, 0)
    return Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit.value
  }).pipe(Effect.provide(scripted(Testing.reply({ body: { id: "1" } }))))

describe("a declaration that throws", () => {
  it.effect("is a defect of each call, and throws where it is read", () =>
    Effect.gen(function*() {
      const bug = new Error("a bug")
      let runs = 0
      const get = Operation.make("get", (): typeof shared => {
        runs++
        throw bug
      })
      assert.strictEqual(runs, 0)
      const call = get({})
      for (const defect of [yield* defectOf(call), yield* defectOf(get({}))]) assert.strictEqual(defect, bug)
      assert.throws(() => get.endpoint, "a bug")
    }))
})

/** Checks of a run's event stream: its id before the run, and whether it exists. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, identity } from "effect"
import { Errors, redeliverEvent } from "../../src/index.js"
import * as StreamCheck from "../../src/internal/deliveries/streamCheck.js"
import { streamIssues } from "../../src/internal/deliveries/streamId.js"
import { transport, unexpected } from "../support/redelivery.js"

const known = { operation: "getEventStream", message: "no" }

type Failure = Parameters<typeof StreamCheck.make>[0] extends Effect.Effect<unknown, infer E> ? E : never

/** What two questions in a row say, and how often the service is asked. */
const asked = (failure: Failure) =>
  Effect.gen(function*() {
    let calls = 0
    const check = yield* StreamCheck.make(Effect.suspend(() => {
      calls++
      return Effect.fail(failure)
    }))
    const ask = Effect.match(check.exists(identity), { onFailure: () => "asks again", onSuccess: (exists) => exists })
    return [yield* ask, yield* ask, calls]
  })

describe("the check of a stream", () => {
  const again: ReadonlyArray<readonly [title: string, failure: Failure]> = [
    ["an invalid token", new Errors.Unauthorized(known)],
    ["429", new Errors.RateLimited(known)],
    ["no token", new Errors.TokenError(known)],
    ["no response", transport("unknown")],
    ["500", unexpected(500)],
    ["503", unexpected(503)],
    ["408", unexpected(408)]
  ]
  it.effect.each(again)("asks again after %s", ([, failure]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked(failure), ["asks again", "asks again", 2])
    }))

  const last: ReadonlyArray<readonly [title: string, failure: Failure, exists: boolean]> = [
    ["404", new Errors.NotFound(known), false],
    ["403", new Errors.Forbidden(known), true],
    ["400", new Errors.BadRequest(known), true],
    ["418", unexpected(418), true]
  ]
  it.effect.each(last)("asks once if the service says %s", ([, failure, exists]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked(failure), [exists, exists, 1])
    }))

  it("names the stream's id alone, by the rules of the operation", () => {
    const { endpoint } = redeliverEvent
    assert.deepStrictEqual(streamIssues(endpoint, "est_6ZcQmD3vK8rWnYp5TsAhX2"), [])
    const issues = streamIssues(endpoint, "short")
    assert.deepStrictEqual(issues.map(({ path }) => path), ["stream"])
  })
})

/**
 * The fault matrix: every fault × the five operations of the contract × three platforms, over real sockets; and three operations of
 * other shapes on one of these platforms. A new fault is a row of `test/support/faultRows.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, TestClock } from "effect"
import { IdentityClient, Retry } from "../../src/index.js"
import * as Testing from "../../src/Testing.js"
import { baseUrl, scripted } from "../support/client.js"
import { clientOf, errorFieldsOf, goodJson, type Platform, serverFor } from "../support/faultCalls.js"
import { attempts, expected, faultOf, isTurnedAway, limit, type Outcome, type Row, rows } from "../support/faultRows.js"
import { callHeader, type Fault, type FaultServer, faultServer } from "../support/faultServer.js"
import { contractOperations, declaredFor, otherOperations, sample, type Subject } from "../support/operations.js"

/** Advances the test's clock past the time-out of each attempt that the server stalls. */
const timeRunsOut = ({ stall }: FaultServer) => Effect.forever(Effect.zipRight(stall, TestClock.adjust(limit)))

/** Makes one call under a fault. Returns its result and the number of requests that reached each server. */
const observe = (row: Row, operation: Subject, platform: Platform) =>
  Effect.gen(function*() {
    const server = yield* serverFor(row, goodJson(operation))
    const input = sample(operation) as never
    const call = operation(input).pipe(
      IdentityClient.withHeaders({ [callHeader]: "observed" }),
      IdentityClient.withTimeout(limit),
      Retry.withPolicy({ attempts, delay: 0 }),
      Effect.either
    )
    if (row.stalls === true) yield* Effect.fork(timeRunsOut(server))
    const result = yield* (row.warm === true ? Effect.zipRight(Effect.orDie(operation(input)), call) : call).pipe(
      Effect.provide(clientOf(server, platform))
    )
    return {
      result,
      requests: server.arrived.filter((call) => call === "observed").length,
      elsewhere: server.arrivedElsewhere.length
    }
  }).pipe(Effect.scoped)

const shown = (outcome: Outcome, operation: Subject): string => {
  const text = Object.values(errorFieldsOf(outcome, operation)).join(" ")
  return outcome.tag === "success" ? "success" : text
}

/** The rows that a running server can act out. */
const scriptable = rows.flatMap((row) => {
  const fault = faultOf(row)
  return fault === undefined ? [] : [{ row, fault }]
})

/** Makes calls until a script is used up. Returns the call and the fault of each request that arrived. */
const play = (
  script: ReadonlyArray<(typeof scriptable)[number]>,
  operation: Subject,
  platform: Platform
) =>
  Effect.gen(function*() {
    const closing: Fault = ({ socket }) => void socket.end()
    const server = yield* faultServer(goodJson(operation), (nth) => script[nth - 1]?.fault ?? closing)
    const client = clientOf(server, platform)
    let calls = 0
    yield* Effect.whileLoop({
      while: () => server.arrived.length < script.length,
      body: () =>
        operation(sample(operation) as never).pipe(
          IdentityClient.withHeaders({ [callHeader]: String(++calls) }),
          IdentityClient.withTimeout(limit),
          Retry.withPolicy({ attempts: 4, delay: 1, maxDelay: 2 }),
          Effect.either
        ),
      step: () => {}
    }).pipe(Effect.provide(client))
    return server.arrived.flatMap((call, index) => {
      const row = script[index]?.row
      return row === undefined ? [] : [{ call, row }]
    })
  }).pipe(Effect.scoped)

const tagOf = (error: unknown) => (error as { readonly _tag: string })._tag

const cell = (row: Row, operation: Subject, platform: Platform) => {
  const { outcome, requests } = expected(row, operation.endpoint)
  const name = `${row.name}: ${operation.endpoint.name} gives ${shown(outcome, operation)} after ${requests} requests`
  it.effect(name, () =>
    Effect.gen(function*() {
      const { elsewhere, requests: reached, result } = yield* observe(row, operation, platform)
      const found = Either.merge(result)
      if (outcome.tag === "success") assert.isTrue(Either.isRight(result), String(found))
      else {
        assert.isTrue(Either.isLeft(result), "a success")
        assert.deepInclude(found as object, errorFieldsOf(outcome, operation))
      }
      if (outcome.tag === "declared") {
        const tags = declaredFor(operation, outcome.status).map(({ name }) => name)
        assert.include(tags.length === 0 ? ["UnexpectedResponse"] : tags, tagOf(found))
      }
      assert.strictEqual(reached, requests)
      assert.strictEqual(elsewhere, 0)
    }))
}

/** The operations to try on a platform. */
const triedOver = (platform: Platform): ReadonlyArray<Subject> =>
  platform === "lean" ? [...contractOperations, ...otherOperations] : contractOperations

for (const platform of ["undici", "fetch", "lean"] as const) {
  describe.concurrent(`over ${platform}`, () => {
    for (const row of rows) {
      for (const operation of triedOver(platform)) cell(row, operation, platform)
    }
  })
}

describe.concurrent("a call that is not idempotent, under any 30 faults", () => {
  for (const platform of ["undici", "fetch", "lean"] as const) {
    for (const operation of triedOver(platform).filter(({ endpoint }) => !endpoint.idempotent)) {
      it.live(
        `${operation.endpoint.name} over ${platform} reaches the server once, but for what was turned away`,
        () =>
          Effect.promise(() =>
            FastCheck.assert(
              FastCheck.asyncProperty(
                FastCheck.array(FastCheck.constantFrom(...scriptable), { minLength: 30, maxLength: 30 }),
                async (script) => {
                  const met = await Effect.runPromise(play(script, operation, platform))
                  const serious = met.filter(({ row }) => !isTurnedAway(row))
                  assert.lengthOf(new Set(serious.map(({ call }) => call)), serious.length)
                }
              ),
              { numRuns: 5 }
            )
          ),
        60_000
      )
    }
  }
})

describe("a redirect from https to http", () => {
  for (const operation of contractOperations) {
    it.effect(`is not followed by ${operation.endpoint.name}: one request, and UnexpectedResponse`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(operation(sample(operation) as never))
        assert.deepInclude(error as object, { _tag: "UnexpectedResponse", status: 307, reason: "redirect" })
        assert.lengthOf(yield* Testing.requests, 1)
      }).pipe(
        Effect.provide(
          scripted(Testing.reply({ status: 307, headers: { location: baseUrl.replace("https:", "http:") } }))
        )
      ))
  }
})

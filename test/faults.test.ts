/** The fault matrix: every fault × every operation × two platforms, over real sockets. */
import { FetchHttpClient } from "@effect/platform"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Either, FastCheck, Layer, Redacted, Schema } from "effect"
import { IdentityClient, RateLimiter, Retry, TokenProvider } from "../src/index.js"
import { attempts, expected, faultOf, isTurnedAway, limit, maxBodySize, type Outcome, type Row, rows } from "./support/faults.js"
import { faultServer, nobody, resettingServer } from "./support/faultServer.js"
import * as Testing from "../src/Testing.js"
import { baseUrl, scripted } from "./support/client.js"
import { declaredFor, operations, sample, type Subject } from "./support/operations.js"

const platforms = { undici: NodeHttpClient.layerUndici, fetch: FetchHttpClient.layer }

/** A good answer: an object of the promised shape, long enough to be cut, with a member more. */
const answerOf = ({ endpoint: { success } }: Subject): string => {
  const value = success === undefined ? {} : FastCheck.sample(Arbitrary.make(Schema.typeSchema(success)), { seed: 3, numRuns: 1 })[0]
  return JSON.stringify({ ...value as object, more: "a member that nobody has described" })
}

/** A new token for each that is taken back. */
const tokens = Layer.sync(TokenProvider.TokenProvider, () => {
  let nth = 1
  return {
    get: Effect.sync(() => Redacted.make(`token-${nth}`)),
    invalidate: () => Effect.sync(() => void nth++)
  }
})

const serverFor = ({ fault }: Row, operation: Subject) =>
  fault === "nobody" ? nobody : fault === "resetting" ? resettingServer : faultServer(answerOf(operation), fault)

/** What one call under a fault gives, and what reached the servers. */
const observe = (row: Row, operation: Subject, platform: keyof typeof platforms) =>
  Effect.gen(function*() {
    const server = yield* serverFor(row, operation)
    const client = IdentityClient.layer({ baseUrl: server.url, maxBodySize }).pipe(
      Layer.provide([RateLimiter.layerUnlimited, tokens, platforms[platform]])
    )
    const input = sample(operation) as never
    const call = operation(input).pipe(
      IdentityClient.withTimeout(row.stalls === true ? limit : "10 seconds"),
      Retry.policy({ attempts, delay: 1, maxDelay: 2 })
    )
    const warmUp = row.warm === true ? Effect.orDie(operation(input)) : Effect.void
    const [before, result] = yield* Effect.gen(function*() {
      yield* warmUp
      return [server.arrived(), yield* Effect.either(call)] as const
    }).pipe(Effect.provide(client))
    return { result, requests: server.arrived() - before, elsewhere: server.arrivedElsewhere() }
  }).pipe(Effect.scoped)

/** The outcome as an error of the operation has to show it. */
const membersOf = (outcome: Outcome, operation: Subject): object => {
  switch (outcome.tag) {
    case "success":
      return {}
    case "declared": {
      const isDeclared = declaredFor(operation, outcome.status).length > 0
      return isDeclared ? { status: outcome.status } : { _tag: "UnexpectedResponse", status: outcome.status, reason: "status" }
    }
    default: {
      const { tag, ...members } = outcome
      return { _tag: tag, ...members }
    }
  }
}

const shown = (outcome: Outcome, operation: Subject): string => {
  const text = Object.values(membersOf(outcome, operation)).join(" ")
  return outcome.tag === "success" ? "success" : text
}

/** The rows that a script of faults can hold: those that a running server can act out. */
const scriptable = rows.flatMap((row) => {
  const fault = faultOf(row)
  return fault === undefined ? [] : [{ row, fault }]
})

/** For each of the calls made until a script is used up, the rows that its requests have met. */
const play = (script: ReadonlyArray<(typeof scriptable)[number]>, operation: Subject, platform: keyof typeof platforms) =>
  Effect.gen(function*() {
    const server = yield* faultServer(answerOf(operation), (nth) => script[nth - 1]?.fault ?? (({ socket }) => socket.end()))
    const client = IdentityClient.layer({ baseUrl: server.url, maxBodySize }).pipe(
      Layer.provide([RateLimiter.layerUnlimited, tokens, platforms[platform]])
    )
    const call = operation(sample(operation) as never).pipe(
      IdentityClient.withTimeout(limit),
      Retry.policy({ attempts: 4, delay: 1, maxDelay: 2 }),
      Effect.either
    )
    const met: Array<ReadonlyArray<Row>> = []
    yield* Effect.whileLoop({
      while: () => server.arrived() < script.length,
      body: () =>
        Effect.suspend(() => {
          const from = server.arrived()
          return Effect.map(call, () => void met.push(script.slice(from, server.arrived()).map(({ row }) => row)))
        }),
      step: () => {}
    }).pipe(Effect.provide(client))
    return met
  }).pipe(Effect.scoped)

const tagOf = (error: unknown) => (error as { readonly _tag: string })._tag

const cell = (row: Row, operation: Subject, platform: keyof typeof platforms) => {
  const { outcome, requests } = expected(row, operation.endpoint)
  const name = `${row.name}: ${operation.endpoint.name} gives ${shown(outcome, operation)} after ${requests} requests`
  it.live(name, () =>
    Effect.gen(function*() {
      const { elsewhere, requests: reached, result } = yield* observe(row, operation, platform)
      const found = Either.merge(result)
      if (outcome.tag === "success") assert.isTrue(Either.isRight(result), String(found))
      else {
        assert.isTrue(Either.isLeft(result), "a success")
        assert.deepInclude(found as object, membersOf(outcome, operation))
      }
      if (outcome.tag === "declared") {
        const tags = declaredFor(operation, outcome.status).map(({ name }) => name)
        assert.include(tags.length === 0 ? ["UnexpectedResponse"] : tags, tagOf(found))
      }
      assert.strictEqual(reached, requests)
      assert.strictEqual(elsewhere, 0)
    }))
}

for (const platform of ["undici", "fetch"] as const) {
  describe.concurrent(`over ${platform}`, () => {
    for (const row of rows.filter(({ stalls }) => stalls !== true)) {
      for (const operation of operations) cell(row, operation, platform)
    }
  })

  // One after another, so that each has the machine to itself while its time limit runs.
  describe(`over ${platform}, in time`, () => {
    for (const row of rows.filter(({ stalls }) => stalls === true)) {
      for (const operation of operations) cell(row, operation, platform)
    }
  })
}

describe.concurrent("a call that must not be repeated, under any 30 faults", () => {
  for (const platform of ["undici", "fetch"] as const) {
    for (const operation of operations.filter(({ endpoint }) => endpoint.repeat === "never")) {
      it.live(`${operation.endpoint.name} over ${platform} reaches the server once, but for what was turned away`, () =>
        Effect.promise(() =>
          FastCheck.assert(
            FastCheck.asyncProperty(
              FastCheck.array(FastCheck.constantFrom(...scriptable), { minLength: 30, maxLength: 30 }),
              async (script) => {
                const calls = await Effect.runPromise(play(script, operation, platform))
                for (const met of calls) {
                  const serious = met.filter((row) => !isTurnedAway(row)).map(({ name }) => name)
                  assert.isAtMost(serious.length, 1, serious.join(", "))
                }
              }
            ),
            { numRuns: 8 }
          )
        ))
    }
  }
})

describe("a redirect from https to http", () => {
  for (const operation of operations) {
    it.effect(`is not followed by ${operation.endpoint.name}: one request, and UnexpectedResponse`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(operation(sample(operation) as never))
        assert.deepInclude(error as object, { _tag: "UnexpectedResponse", status: 307, reason: "redirect" })
        assert.lengthOf(yield* Testing.requests, 1)
      }).pipe(Effect.provide(scripted(Testing.reply({ status: 307, headers: { location: baseUrl.replace("https:", "http:") } })))))
  }
})

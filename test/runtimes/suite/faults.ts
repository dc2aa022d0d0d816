/** The fault matrix: each fault with each operation, with the known differences of runtimes. */
import { Effect } from "effect"
import { IdentityClient, RateLimiter, Retry } from "effect-identity-client"
import { operations, sample, type Subject } from "../../support/operations.js"
import { differing } from "../differences.js"
import {
  clientOver,
  equal,
  hasFields,
  isTrue,
  lacks,
  open,
  printedText,
  secrets,
  Stage,
  type Test,
  test,
  tokens
} from "../kit.js"
import type { FaultCase, Matrix } from "../scenes.js"

/** Time-out of an attempt: short where the server stalls. */
const limit = ({ stalls }: FaultCase) => stalls ? "500 millis" : "15 seconds"

interface Arrived {
  readonly calls: ReadonlyArray<string | null>
  readonly elsewhere: number
}

const cell = (matrix: Matrix, cell: FaultCase, operation: Subject): Test =>
  test(
    `${cell.row}: ${cell.operation}`,
    Effect.gen(function*() {
      const { runtime } = yield* Stage
      const expected = differing(runtime, cell)
      const [one] = expected
      const server = yield* open({ scene: "fault", row: one.row, operation: one.operation })
      const call = operation(sample(operation) as never)
      const observed = call.pipe(
        IdentityClient.withHeaders({ [matrix.callHeader]: "observed" }),
        IdentityClient.withTimeout(limit(one)),
        Retry.withPolicy({ attempts: matrix.attempts, delay: 0 }),
        Effect.either
      )
      const result = yield* (one.isWarm ? Effect.zipRight(Effect.orDie(call), observed) : observed).pipe(
        Effect.provide(clientOver(server, tokens, RateLimiter.layerUnlimited, { maxBodySize: matrix.maxBodySize }))
      )
      const arrived = yield* server.order<Arrived>("arrived")
      const check = ({ gives, requests }: FaultCase) =>
        Effect.gen(function*() {
          if (gives === undefined) yield* isTrue(result._tag === "Right", `${String(result)} is a success`)
          else {
            yield* isTrue(result._tag === "Left", "the call fails")
            const error = (result._tag === "Left" ? result.left : {}) as { readonly _tag: string } // sound: all failures have a tag
            yield* isTrue(gives.tags.includes(error._tag), `${String(error)} is ${gives.tags.join(" or ")}`)
            yield* hasFields(error, gives.fields)
            yield* lacks(printedText(error), { ...matrix.planted, ...secrets, origin: server.origin })
          }
          yield* equal(arrived.calls.filter((call) => call === "observed").length, requests, "requests that arrived")
        })
      yield* Effect.firstSuccessOf(expected.map(check))
      yield* equal(arrived.elsewhere, 0, "requests that arrived elsewhere")
    })
  )

/** Returns a test for each cell. */
export const faults = (matrix: Matrix): ReadonlyArray<Test> =>
  matrix.cases.flatMap((one) =>
    operations.flatMap((operation) => operation.endpoint.name === one.operation ? [cell(matrix, one, operation)] : [])
  )

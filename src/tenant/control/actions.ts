/** Carries out what each address of the control interface asks for. */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import { scopesOf } from "../../Endpoint.js"
import { version } from "../../internal/http/requestEncoder.js"
import { fileOperation, filePath, prefix, tokenPaths } from "../api/routes.js"
import type { State } from "../api/state.js"
import type { Controlled } from "./controlled.js"
import { failDeliveries } from "./failDeliveries.js"
import type { Exchanges } from "./http/api.js"
import {
  type BucketName,
  type BucketView,
  type ClockView,
  type Done,
  maxOffset,
  type OperationView,
  type Refusal,
  type Snapshot
} from "./http/schemas.js"
import { rounded, step } from "./recording/history.js"
import * as SavedState from "./savedState.js"
import { faultView, stateViews, tokensView, tokenView } from "./snapshot.js"

export type Handler<Input, Response> = (
  input: Input
) => Effect.Effect<Response | HttpServerResponse, Refusal, HttpServerRequest>

/** A handler for each endpoint. */
export type Handlers = {
  readonly [Name in keyof Exchanges]: Handler<Exchanges[Name]["input"], Exchanges[Name]["response"]>
}

const bucketNames: ReadonlyArray<BucketName> = ["tenant", "profileUpdates"]

/** The number of requests in a snapshot. */
export const snapshotRequests = 200

/** The number of requests on a page by default. */
const pageRequests = 100

const notFound = (message: string): Refusal => ({ status: 404, message })
const invalid = (field: string, message: string): Refusal => ({ status: 400, message: `${field}: ${message}`, field })

const operationsOf = ({ served }: Controlled): ReadonlyArray<OperationView> => [
  ...served.map(({ endpoint }) => ({
    name: endpoint.name,
    method: endpoint.method,
    path: `${prefix}${endpoint.path}`,
    scopes: scopesOf(endpoint)
  })),
  { name: "token", method: "POST", path: tokenPaths[1], scopes: [] },
  { name: fileOperation, method: "GET", path: filePath, scopes: [] }
]

const bucketView = ({ buckets, clock, recorder }: Controlled, name: BucketName): Effect.Effect<BucketView> =>
  Effect.zipWith(clock.provide(buckets[name].left), recorder.history(name), (left, samples) => ({
    name,
    burst: buckets[name].burst,
    refillPerSecond: buckets[name].refillPerSecond,
    left: rounded(left),
    history: { step, samples }
  }))

const clockView = ({ clock, now }: Controlled): Effect.Effect<ClockView> =>
  Effect.map(now, (time) => ({ time, clockOffset: clock.offset() }))

export const snapshotOf = (controlled: Controlled, withSecrets: boolean): Effect.Effect<Snapshot> =>
  Effect.gen(function*() {
    const { advanced, clients, deliveryMillis, faults, instance, recorder, tokens } = controlled
    return {
      ...yield* clockView(controlled),
      instance,
      version,
      operations: operationsOf(controlled),
      clients: clients.map(({ global, id, scopes, secret }) => ({
        id,
        scopes,
        global,
        ...(withSecrets && secret !== undefined && { secret: Redacted.value(secret) })
      })),
      buckets: yield* Effect.forEach(bucketNames, (name) => bucketView(controlled, name)),
      tokens: tokensView(yield* tokens.all),
      faults: (yield* faults.all).map(faultView),
      ...stateViews(yield* advanced, deliveryMillis),
      requests: { items: recorder.newest(snapshotRequests), total: recorder.total() }
    }
  })

export const make = (controlled: Controlled): Omit<Handlers, "openapi" | "events"> => {
  const { advance, buckets, clock, faults, log, now, recorder, state, tokens } = controlled
  /** All that is shown begins anew. */
  const beginAnew = Effect.sync(() => controlled.generation.current++)
  const setLevel = (name: BucketName, left: number) =>
    Effect.zipRight(clock.provide(buckets[name].setLeft(left)), recorder.setLevel(name, left))
  /** The history goes on from the levels that the buckets have now. */
  const noteLevels = Effect.forEach(
    bucketNames,
    (name) => Effect.flatMap(clock.provide(buckets[name].left), (left) => recorder.setLevel(name, left))
  )
  const clearRequests = Effect.zipRight(log.clear, Effect.sync(recorder.clear))

  return {
    snapshot: ({ query }) => snapshotOf(controlled, query.secrets === "include"),

    requests: ({ query: { before, limit = pageRequests } }) =>
      Effect.sync(() => ({
        items: recorder.newest(limit, before),
        total: recorder.total(),
        oldest: recorder.oldest()
      })),

    request: ({ params: { id }, query }) =>
      Effect.suspend(() => {
        const details = recorder.details(Number(id), query.secrets === "include")
        return details === undefined ? Effect.fail(notFound(`The request ${id} is not kept`)) : Effect.succeed(details)
      }),

    clearRequests: () => Effect.map(Effect.zipLeft(clearRequests, beginAnew), (changed) => ({ changed })),

    addFault: ({ body }) => {
      const { body: content, cut, delay, headers, operation, status } = body
      if ([content, cut, delay, headers, status].every(Predicate.isUndefined)) {
        return Effect.fail(invalid("status", "a fault needs a status, a body, headers, a delay or a cut"))
      }
      if (operation !== undefined && !operationsOf(controlled).some(({ name }) => name === operation)) {
        return Effect.fail(invalid("operation", "the tenant serves no such operation"))
      }
      return Effect.map(faults.add(SavedState.toFault(body)), faultView)
    },

    removeFaults: () => Effect.map(faults.remove(), (changed) => ({ changed })),

    removeFault: ({ params: { id } }) =>
      Effect.flatMap(
        faults.remove(Number(id)),
        (changed) => changed === 0 ? Effect.fail(notFound(`There is no fault ${id}`)) : Effect.succeed({ changed })
      ),

    setBucket: ({ body: { left = 0 }, params: { name } }) =>
      left > buckets[name].burst
        ? Effect.fail(invalid("left", `the bucket holds at most ${buckets[name].burst}`))
        : Effect.zipRight(setLevel(name, left), bucketView(controlled, name)),

    issueToken: ({ body: { client } }) =>
      Effect.flatMap(clock.provide(tokens.issueFor(client)), (issued) =>
        issued === undefined
          ? Effect.fail(invalid("client", "there is no such client"))
          : Effect.succeed({ token: issued[0], view: tokenView(issued[1]) })),

    revokeTokens: ({ body: { client, id } }) =>
      Effect.map(
        tokens.revoke((token) =>
          (id === undefined || token.id === id) && (client === undefined || token.client.id === client)
        ),
        (changed) => ({ changed })
      ),

    failDeliveries: ({ body }) =>
      Effect.flatMap(
        now,
        (time) =>
          Effect.flatten(Ref.modify(state, (before): readonly [Effect.Effect<Done, Refusal>, State] => {
            const result = failDeliveries(advance(before, time), body, time)
            return "status" in result
              ? [Effect.fail(result), before]
              : [Effect.succeed({ changed: result[0] }), result[1]]
          }))
      ),

    moveClock: ({ body: { forward } }) =>
      Effect.suspend(() => {
        const offset = clock.offset() + forward
        if (offset > maxOffset) {
          return Effect.fail(invalid("forward", "the clock can be a thousand years ahead at most"))
        }
        clock.setOffset(offset)
        return Effect.zipRight(noteLevels, clockView(controlled))
      }),

    reset: () =>
      Effect.gen(function*() {
        clock.setOffset(0)
        const removed = yield* faults.remove()
        yield* tokens.restore
        yield* Effect.forEach(bucketNames, (name) => setLevel(name, buckets[name].burst))
        yield* Ref.set(state, yield* clock.provide(controlled.seeded))
        const cleared = yield* clearRequests
        yield* beginAnew
        return { changed: removed + cleared }
      }),

    save: ({ query }) => SavedState.save(controlled, query.secrets === "include"),

    load: ({ body }) =>
      Effect.map(
        Effect.zipLeft(SavedState.load(controlled, body), Effect.zipRight(noteLevels, beginAnew)),
        (changed) => ({ changed })
      )
  }
}

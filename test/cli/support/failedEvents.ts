/** A service of failed events, and `redeliver --one-call` against it. */
import * as Effect from "effect/Effect"
import { redeliverWithOneCall } from "../../../src/cli/commands/redeliverWithOneCall.js"
import { type Delivery, listDeliveries, type Operation, redeliverEvents, Timestamp } from "../../../src/index.js"
import * as Testing from "../../../src/Testing.js"
import { ids, stream } from "../../support/redelivery.js"
import { start } from "./record.js"

const before = Timestamp.make("2030-01-01T00:00:00.250Z")
const after = Timestamp.make("2030-01-02T00:00:00Z")

/** A service of failed events, which a test changes. */
export const service = (
  count: number,
  response: Effect.Effect<void, Operation.Failure<typeof redeliverEvents>> = Effect.void
) => {
  const failed = new Map<string, Delivery["attempts"]>(
    ids(count).map((id) => [id, [{ status: "failed", timestamp: before, error_message: "no route" }]])
  )
  const [lists, calls]: [
    Array<Operation.Input<typeof listDeliveries>>,
    Array<Operation.Input<typeof redeliverEvents>>
  ] = [[], []]
  const state: { onList: Effect.Effect<void, Operation.Failure<typeof listDeliveries>> } = { onList: Effect.void }
  const layer = Testing.layer(
    Testing.handle(listDeliveries, (input) =>
      Effect.suspend(() => {
        lists.push(input)
        return Effect.map(state.onList, () =>
          Array.from(failed, ([id, attempts]): Delivery => ({
            id,
            event_stream_id: stream,
            status: "failed",
            event_type: "user.created",
            attempts
          })).filter(({ id }) => id > (input.from ?? "")))
      })),
    Testing.handle(redeliverEvents, (input) =>
      Effect.as(
        Effect.zipRight(Effect.sync(() => void calls.push(input)), response),
        { statuses: [], event_types: [] }
      ))
  )
  /** The event fails with a new attempt. */
  const failAgain = (id: string, error_message: string) => {
    failed.set(id, [...failed.get(id) ?? [], { status: "failed", timestamp: after, error_message }])
  }
  return { calls, failAgain, failed, layer, lists, state }
}

const settings = {
  stream,
  eventTypes: [],
  from: undefined,
  to: undefined,
  deliveredAfter: undefined,
  followFor: undefined,
  yes: true,
  dryRun: false,
  json: false
}

/** Starts the command, which asks nothing by default. */
export const redeliver = (
  { layer }: Pick<ReturnType<typeof service>, "layer">,
  changed: Partial<Parameters<typeof redeliverWithOneCall>[0]> = {},
  streams: Parameters<typeof start>[1] = {}
) => start(Effect.provide(redeliverWithOneCall({ ...settings, ...changed }), layer), streams)

/** The line of a failed event. */
export const lineOf = (id: string) => `${id}  user.created   1  2030-01-01T00:00:00Z  no route\n`

/** The lines of a number of failed events. */
export const linesOf = (count: number) => ids(count).map(lineOf).join("")

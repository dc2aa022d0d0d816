/** Runs redeliveries against a service of handlers, with a journal in memory. */
import { KeyValueStore } from "@effect/platform"
import { Chunk, Effect, Option, Stream } from "effect"
import {
  Errors,
  getEventStream,
  type IdentityClient,
  type Operation,
  redeliverEvent,
  Redelivery
} from "../../src/index.js"
import * as Testing from "../../src/Testing.js"

export const stream = "est_0000000000000000000001"

export const idOf = (nth: number) => `evt_${String(nth).padStart(22, "0")}`

export const ids = (count: number) => Array.from({ length: count }, (_, nth) => idOf(nth))

/** The result of a call that redelivers an event. */
export type Handled = Effect.Effect<void, Operation.Failure<typeof redeliverEvent>>

/** A service with the given behaviour, and a stream; `sent` lists the ids that it received. */
export const service = (
  handle: (id: string, nth: number) => Handled = () => Effect.void,
  ...more: ReadonlyArray<Testing.Handler>
) => {
  const sent: Array<string> = []
  const layer = Testing.layer(
    Testing.handle(redeliverEvent, ({ event_id }) => Effect.suspend(() => handle(event_id, sent.push(event_id) - 1))),
    ...more,
    Testing.handle(getEventStream, () => Effect.succeed({}))
  )
  return { sent, layer }
}

export const failure = { operation: "redeliverEvent", message: "No." }
export const unexpected = (status: number) =>
  new Errors.UnexpectedResponse({ ...failure, status, reason: "status", shape: "" })
export const transport = (outcome: "not-sent" | "unknown") => new Errors.TransportError({ ...failure, outcome })

/** A store in memory whose entries a test can read and change. */
export const memory = (entries = new Map<string, string>()) => {
  const store = KeyValueStore.makeStringOnly({
    get: (key) => Effect.sync(() => Option.fromNullable(entries.get(key))),
    set: (key, value) => Effect.sync(() => void entries.set(key, value)),
    remove: (key) => Effect.sync(() => void entries.delete(key)),
    clear: Effect.sync(() => entries.clear()),
    size: Effect.sync(() => entries.size)
  })
  return { entries, store }
}

/** The key of an event's entry. */
export const keyOf = (id: string) => Buffer.from(id).toString("hex")

export const collect = <E>(
  results: Stream.Stream<Redelivery.Result, E, IdentityClient.IdentityClient>,
  { layer }: Pick<ReturnType<typeof service>, "layer">
) => Effect.map(Effect.provide(Stream.runCollect(results), layer), Chunk.toReadonlyArray)

export const run = (
  list: Iterable<string>,
  options: Partial<Redelivery.Options>,
  tenant: Pick<ReturnType<typeof service>, "layer">
) => collect(Redelivery.run(list, { stream, ...options }), tenant)

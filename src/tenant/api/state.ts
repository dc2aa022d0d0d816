/** The tenant's state as plain data, so that a test can compare a snapshot and seed another tenant with it. */
import type { ActionVersion } from "../../operations/listActionVersions.js"

/** The same data with plain strings in place of branded ones, so that it can be written as literals. */
type Unbranded<A> = A extends string ? string
  : A extends ReadonlyArray<infer Item> ? ReadonlyArray<Unbranded<Item>>
  : A extends object ? { readonly [Name in keyof A]: Unbranded<A[Name]> }
  : A

/**
 * A connection, the source of users. An export requires an id of `con_` and 16 letters or digits.
 * @since 0.1.0 @category models
 */
export interface Connection {
  readonly id: string
  readonly name: string
}

/** An export job; it stays `pending`. @since 0.1.0 @category models */
export interface Job {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly created_at: string
  readonly connection?: string
  readonly connection_id?: string
  readonly format?: string
  readonly limit?: number
  readonly fields?: ReadonlyArray<{ readonly name: string; readonly export_as?: string | undefined }>
}

/** A token exchange profile; its timestamps have three fractional digits. @since 0.1.0 @category models */
export interface Profile {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly subject_token_type: string
  readonly action_id: string
  readonly created_at: string
  readonly updated_at: string
}

/** A version of an action; every field is optional. @since 0.1.0 @category models */
export type Version = Unbranded<ActionVersion>

/** An action and its versions, in the order in which they are listed. @since 0.1.0 @category models */
export interface Action {
  readonly id: string
  readonly versions: ReadonlyArray<Version>
}

/**
 * An event of a stream. A queued event is delivered after 30 seconds of the tenant's clock.
 * @since 0.1.0 @category models
 */
export interface StreamEvent {
  readonly id: string
  readonly state: "failed" | "queued" | "delivered"
  /** The time of queueing, in milliseconds since 1970 (default: the time of seeding). */
  readonly queued_at?: number
}

/** An event stream and its events; the ids of both have 26 characters. @since 0.1.0 @category models */
export interface Stream {
  readonly id: string
  readonly events: ReadonlyArray<StreamEvent>
}

/** The data of a tenant at one moment. @since 0.1.0 @category models */
export interface State {
  readonly connections: ReadonlyArray<Connection>
  readonly jobs: ReadonlyArray<Job>
  readonly profiles: ReadonlyArray<Profile>
  readonly actions: ReadonlyArray<Action>
  readonly streams: ReadonlyArray<Stream>
}

/** Data to add to the state. An item replaces the one with the same id. @since 0.1.0 @category models */
export interface Seed extends Partial<State> {}

const deliveryMillis = 30_000

export const emptyState: State = { connections: [], jobs: [], profiles: [], actions: [], streams: [] }

/** Adds items; each replaces the one with the same id. */
export const upsert = <Item extends { readonly id: string }>(
  items: ReadonlyArray<Item>,
  added: ReadonlyArray<Item> = []
): ReadonlyArray<Item> => {
  const all = new Map([...items, ...added].map((item) => [item.id, item]))
  return [...all.values()]
}

const mapEvents = (streams: ReadonlyArray<Stream> = [], change: (event: StreamEvent) => StreamEvent) =>
  streams.map((stream) => ({ ...stream, events: stream.events.map(change) }))

export const addSeed = (state: State, seed: Seed, now: number): State => ({
  connections: upsert(state.connections, seed.connections),
  jobs: upsert(state.jobs, seed.jobs),
  profiles: upsert(state.profiles, seed.profiles),
  actions: upsert(state.actions, seed.actions),
  streams: upsert(
    state.streams,
    mapEvents(seed.streams, (event) => event.state === "queued" ? { queued_at: now, ...event } : event)
  )
})

/** Marks the events as delivered whose time has come. */
export const deliverQueued = (state: State, now: number): State => ({
  ...state,
  streams: mapEvents(state.streams, (event) =>
    event.queued_at !== undefined && event.queued_at + deliveryMillis <= now
      ? { id: event.id, state: "delivered" }
      : event)
})

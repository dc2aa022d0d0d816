/** The tenant's state as plain data, so that a test can compare a snapshot and seed another tenant with it. */
import type { ActionVersion, TriggerDescriptor } from "../../operations/listActionVersions.js"
import { type Attempt, failedRound, refused } from "./attempts.js"

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

/**
 * A user, with a field for each of the profile: any JSON values.
 * @since 0.1.0 @category models
 */
export interface User {
  readonly user_id: string
  /** The connections of the user, by name; without it, the user belongs to every connection. */
  readonly identities?: ReadonlyArray<{ readonly connection: string; readonly [field: string]: unknown }>
  readonly [field: string]: unknown
}

/**
 * The users of a tenant: a list, or a function that makes them one by one whenever they are exported, so that a million users
 * need no memory. It must always make the same ones.
 * @since 0.1.0 @category models
 */
export type Users = ReadonlyArray<User> | (() => Iterable<User>)

/**
 * An export job. One that is `pending` runs on the tenant's clock from `created_at` on (`durations.export`); then it is `completed`, or
 * `failed` if it has a `failure`. Its file has the users that the tenant has at the time of the
 * download.
 * @since 0.1.0 @category models
 */
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
  readonly percentage_done?: number
  readonly time_left_seconds?: number
  readonly status_details?: string
  /** Why the job will fail, its `status_details` then. */
  readonly failure?: string
  /** The time of its end, in milliseconds since 1970. */
  readonly ended_at?: number
  /** The links to its file that `getJob` has given; `expires_at` is in milliseconds since 1970. */
  readonly links?: ReadonlyArray<{ readonly signature: string; readonly expires_at: number }>
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

/** A version of an action; every field is optional. Its `action` is by default that which has it. @since 0.1.0 @category models */
export type Version = Unbranded<ActionVersion>

/**
 * An action and its versions, in the order in which they are listed: the newest first.
 * @since 0.1.0 @category models
 */
export interface Action {
  readonly id: string
  readonly versions: ReadonlyArray<Version>
  /** Default: as in the newest version. */
  readonly name?: string
  /** Default: as in the newest version. */
  readonly supported_triggers?: ReadonlyArray<Unbranded<TriggerDescriptor>>
  readonly created_at?: string
  readonly updated_at?: string
  /** Default: the content of the version that is deployed, or else of the newest. */
  readonly draft?: Pick<Version, "code" | "dependencies" | "runtime" | "secrets">
  /** The versions that are being deployed (`durations.deployment`), since times in milliseconds since 1970. */
  readonly deployments?: ReadonlyArray<{ readonly version_id: string; readonly started_at: number }>
}

/**
 * An event of a stream. A queued event is delivered after 30 seconds of the tenant's clock (`durations.delivery`).
 * @since 0.1.0 @category models
 */
export interface StreamEvent {
  readonly id: string
  readonly state: "failed" | "queued" | "delivered"
  /** The time of queueing, in milliseconds since 1970 (default: the time of seeding). */
  readonly queued_at?: number
  /** Default: `user.created`. */
  readonly event_type?: string
  /** The attempts to deliver it, the oldest first (default for a failed event: a round of four that ends at the time of seeding). */
  readonly attempts?: ReadonlyArray<Attempt>
  /** The number of times that redelivery fails again, before it succeeds (default 0). */
  readonly failsAgain?: number
}

/** An event stream and its events; the ids of both have 26 characters. @since 0.1.0 @category models */
export interface Stream {
  readonly id: string
  readonly events: ReadonlyArray<StreamEvent>
  readonly name?: string
  readonly subscriptions?: ReadonlyArray<{ readonly event_type: string }>
  /** A webhook has an authorization (default: a bearer token), whose secret is not returned. */
  readonly destination?: {
    readonly type: "webhook" | "eventbridge" | "action"
    readonly configuration: Readonly<Record<string, unknown>>
  }
  /** Nothing is redelivered by a disabled stream (default: `enabled`). */
  readonly status?: "enabled" | "disabled"
  readonly created_at?: string
  readonly updated_at?: string
}

/** The data of a tenant at one moment. @since 0.1.0 @category models */
export interface State {
  readonly connections: ReadonlyArray<Connection>
  readonly jobs: ReadonlyArray<Job>
  readonly profiles: ReadonlyArray<Profile>
  readonly actions: ReadonlyArray<Action>
  readonly streams: ReadonlyArray<Stream>
  readonly users: Users
}

/**
 * Data to add to the state. An item replaces the one with the same id; a function that makes users replaces all users, and a list
 * of users replaces a function.
 * @since 0.1.0 @category models
 */
export interface Seed extends Partial<State> {}

export const emptyState: State = { connections: [], jobs: [], profiles: [], actions: [], streams: [], users: [] }

/** Adds items; each replaces the one with the same key. */
const replaceBy = <Item>(
  keyOf: (item: Item) => string,
  items: ReadonlyArray<Item>,
  added: ReadonlyArray<Item> = []
): ReadonlyArray<Item> => {
  const all = new Map([...items, ...added].map((item) => [keyOf(item), item]))
  return [...all.values()]
}

/** Adds items; each replaces the one with the same id. */
export const upsert = <Item extends { readonly id: string }>(
  items: ReadonlyArray<Item>,
  added?: ReadonlyArray<Item>
): ReadonlyArray<Item> => replaceBy(({ id }) => id, items, added)

const addUsers = (users: Users, added: Users = []): Users => {
  if (typeof added === "function") return added
  if (typeof users === "function") return added.length === 0 ? users : added
  return replaceBy(({ user_id }) => user_id, users, added)
}

const addDefaults = (event: StreamEvent, now: number): StreamEvent => {
  switch (event.state) {
    case "queued":
      return { queued_at: now, ...event }
    case "failed":
      return { attempts: failedRound(now, { error: refused }), ...event }
    case "delivered":
      return event
  }
}

export const addSeed = (state: State, seed: Seed, now: number): State => ({
  connections: upsert(state.connections, seed.connections),
  jobs: upsert(state.jobs, seed.jobs),
  profiles: upsert(state.profiles, seed.profiles),
  actions: upsert(state.actions, seed.actions),
  streams: upsert(
    state.streams,
    seed.streams?.map((stream) => ({ ...stream, events: stream.events.map((event) => addDefaults(event, now)) }))
  ),
  users: addUsers(state.users, seed.users)
})

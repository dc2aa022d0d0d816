/** What the tenant knows: plain data, so that a snapshot of it can be compared in a test and seeded in another. */
import type { ActionVersion } from "../../operations/listActionVersions.js"

/** The same data with plain strings where the client's types are branded, so that it can be written down. */
type Plain<A> = A extends string ? string
  : A extends ReadonlyArray<infer Item> ? ReadonlyArray<Plain<Item>>
  : A extends object ? { readonly [Name in keyof A]: Plain<A[Name]> }
  : A

/** Where users come from; an export names one by `con_` and 16 letters or digits. */
export interface Connection {
  readonly id: string
  readonly name: string
}

/** An export job as the tenant gave it; it stays `pending`. */
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

/** A token exchange profile; its timestamps have three fractional digits. */
export interface Profile {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly subject_token_type: string
  readonly action_id: string
  readonly created_at: string
  readonly updated_at: string
}

/** A version of an action, with timestamps as plain strings; any member may be missing. */
export type Version = Plain<ActionVersion>

/** An action and its versions, in the order in which they are listed. */
export interface Action {
  readonly id: string
  readonly versions: ReadonlyArray<Version>
}

/** An event of a stream. One that is queued is delivered 30 seconds later, by the tenant's clock. */
export interface StreamEvent {
  readonly id: string
  readonly state: "failed" | "queued" | "delivered"
  /** When it was queued, in milliseconds since 1970; the time of seeding where a seed leaves it out. */
  readonly queued_at?: number
}

/** An event stream and its events; both kinds of ids have 26 characters. */
export interface Stream {
  readonly id: string
  readonly events: ReadonlyArray<StreamEvent>
}

/** All that the tenant knows at one moment. */
export interface State {
  readonly connections: ReadonlyArray<Connection>
  readonly jobs: ReadonlyArray<Job>
  readonly profiles: ReadonlyArray<Profile>
  readonly actions: ReadonlyArray<Action>
  readonly streams: ReadonlyArray<Stream>
}

/** What to add to the state. What has the id of something that is there takes its place. */
export interface Seed extends Partial<State> {}

const delivery = 30_000

export const empty: State = { connections: [], jobs: [], profiles: [], actions: [], streams: [] }

/** Puts items in, each in the place of the one with its id. */
export const put = <Item extends { readonly id: string }>(
  items: ReadonlyArray<Item>,
  added: ReadonlyArray<Item> = []
): ReadonlyArray<Item> => {
  const all = new Map([...items, ...added].map((item) => [item.id, item]))
  return [...all.values()]
}

/** The state with the seed in it. */
export const add = (state: State, seed: Seed, now: number): State => ({
  connections: put(state.connections, seed.connections),
  jobs: put(state.jobs, seed.jobs),
  profiles: put(state.profiles, seed.profiles),
  actions: put(state.actions, seed.actions),
  streams: put(
    state.streams,
    seed.streams?.map((stream) => ({
      ...stream,
      events: stream.events.map((event) => event.state === "queued" ? { queued_at: now, ...event } : event)
    }))
  )
})

/** The state as it is by now: what was queued long enough ago is delivered. */
export const settle = (state: State, now: number): State => ({
  ...state,
  streams: state.streams.map((stream) => ({
    ...stream,
    events: stream.events.map((event): StreamEvent =>
      event.queued_at !== undefined && event.queued_at + delivery <= now ? { id: event.id, state: "delivered" } : event
    )
  }))
})

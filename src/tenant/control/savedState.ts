/** The whole state of a tenant as JSON: saves it, and loads it. */
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { number } from "../../Schemas.js"
import type { Action, Connection, Job, Profile, State, Stream, User } from "../api/state.js"
import type { Fault, PendingFault } from "../server/faults.js"
import type { Controlled } from "./controlled.js"
import { FaultInput, maxOffset, type Refusal, time, TokenView } from "./http/schemas.js"
import { maskValue } from "./recording/masking.js"
import { limitDelay, limitTimes, tokenView } from "./snapshot.js"

/** A part of the state, with the fields that the tenant needs. It sends the others as they are. */
const items = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Array(Schema.Struct(fields, { key: Schema.String, value: Schema.Unknown }))

const dateTime = Schema.String.pipe(
  Schema.filter((text) => !Number.isNaN(Date.parse(text)), { description: "a date and time" })
)

const { optional } = Schema

/** The fields of jobs and events that may be infinite: JSON has `null` for that. */
const infiniteFields = ["limit", "ended_at", "queued_at", "failsAgain"]
const orInfinite = (schema: Schema.Schema<number>) => optional(Schema.NullOr(schema))
const text = optional(Schema.String)

const job = {
  id: Schema.String,
  type: Schema.String,
  status: Schema.String,
  created_at: dateTime,
  connection: text,
  connection_id: text,
  format: text,
  limit: orInfinite(number({ min: 0 })),
  fields: optional(items({ name: Schema.String, export_as: text })),
  percentage_done: optional(number()),
  time_left_seconds: optional(number()),
  status_details: text,
  failure: text,
  ended_at: orInfinite(time),
  links: optional(items({ signature: Schema.String, expires_at: time }))
}

const trigger = items({ id: Schema.String })

const action = {
  id: Schema.String,
  name: text,
  versions: items({ id: text, number: optional(number()), status: text, supported_triggers: optional(trigger) }),
  supported_triggers: optional(trigger),
  draft: optional(Schema.Struct({}, { key: Schema.String, value: Schema.Unknown })),
  deployments: optional(items({ version_id: Schema.String, started_at: time }))
}

const event = {
  id: Schema.String,
  state: Schema.Literal("failed", "queued", "delivered"),
  queued_at: orInfinite(time),
  event_type: text,
  attempts: optional(items({
    timestamp: dateTime,
    status: optional(Schema.Literal("failed", "retrying")),
    error_message: text,
    duration: orInfinite(number({ min: 0 }))
  })),
  failsAgain: orInfinite(number({ min: 0 }))
}

const stream = {
  id: Schema.String,
  name: text,
  events: items(event),
  destination: optional(Schema.Struct({ type: Schema.String }, { key: Schema.String, value: Schema.Unknown })),
  status: optional(Schema.Literal("enabled", "disabled"))
}

const savedState = Schema.Struct({
  format: Schema.Literal("effect-identity-client/tenant"),
  version: Schema.Literal(1),
  savedAt: Schema.Number,
  clockOffset: number({ min: 0, max: maxOffset }),
  state: Schema.Struct({
    connections: items({ id: Schema.String, name: Schema.String }),
    jobs: items(job),
    profiles: items({ id: Schema.String }),
    actions: items(action),
    streams: items(stream),
    users: optional(items({ user_id: Schema.String, identities: optional(items({ connection: Schema.String })) }))
  }),
  buckets: Schema.Struct({ tenant: number({ min: 0 }), profileUpdates: number({ min: 0 }) }),
  tokens: Schema.Array(TokenView),
  faults: Schema.Array(FaultInput),
  signingKey: optional(Schema.Struct(
    {
      kty: Schema.Literal("oct"),
      k: Schema.String.pipe(Schema.pattern(/^[\w-]{43,}$/, { description: "a key of at least 256 bits in base64url" }))
    },
    { key: Schema.String, value: Schema.Unknown }
  ))
}).annotations({ identifier: "SavedState" })

type Checked = typeof savedState.Type

/** A state in a file, with the lists of `Tenant.State`. Without `secrets`, secrets in it are masked. */
export type SavedState = Omit<Checked, "state" | "signingKey"> & {
  readonly state: {
    readonly [Name in keyof Checked["state"]]: ReadonlyArray<unknown> | Extract<Checked["state"][Name], undefined>
  }
  /** The key that signs tokens, as a JWK: only with secrets. It makes tokens valid in another tenant. */
  readonly signingKey?: Readonly<Record<string, unknown>> | undefined
}

/** Sound: the schema checks more of the items than their type says, and it is only used to check. */
export const SavedState = savedState as unknown as Schema.Schema<SavedState>

export const toFault = ({ headers, ...fault }: FaultInput): Fault => ({
  ...fault,
  ...(headers && {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value ?? undefined]))
  })
})

const toInput = ({ fault: { delay, headers, ...fault }, left }: PendingFault): FaultInput => ({
  ...fault,
  times: limitTimes(left),
  ...(delay !== undefined && { delay: limitDelay(delay) }),
  ...(headers && {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value ?? null]))
  })
})

/** Saves the state. Without secrets, the values of secret fields are masked, and links to files are left out. */
export const save = (
  { advanced, buckets, clock, faults, now, tokens }: Controlled,
  withSecrets: boolean
): Effect.Effect<SavedState> =>
  Effect.gen(function*() {
    const { users, ...lists } = yield* advanced
    const state = { ...lists, ...(typeof users !== "function" && { users }) }
    const pending = (yield* faults.all).map(toInput)
    return {
      format: "effect-identity-client/tenant",
      version: 1,
      savedAt: yield* now,
      clockOffset: clock.offset(),
      // Sound: masking keeps the shape, and replaces only the values of secret fields.
      state: withSecrets
        ? state
        : maskValue({ ...state, jobs: state.jobs.map(Struct.omit("links")) }) as typeof state,
      buckets: {
        tenant: yield* clock.provide(buckets.tenant.left),
        profileUpdates: yield* clock.provide(buckets.profileUpdates.left)
      },
      tokens: (yield* tokens.all).map(tokenView),
      faults: withSecrets ? pending : maskValue(pending) as typeof pending, // sound: as above
      ...(withSecrets && { signingKey: { ...yield* tokens.signingKey } })
    }
  })

/** Puts back the numbers that JSON has no form for. */
const restoreInfinite = <Item extends object>(item: Item): Item => {
  const entries = Object.entries(item)
  const isInfinite = ([name, value]: readonly [string, unknown]) => value === null && infiniteFields.includes(name)
  // Sound: only numbers are put in place of `null`.
  return Object.fromEntries(entries.map((entry) => isInfinite(entry) ? [entry[0], Infinity] : entry)) as Item
}

const invalidKey: Refusal = {
  status: 400,
  field: "signingKey.k",
  message: "signingKey.k: Expected a key of at least 256 bits in base64url"
}

/** Replaces the state by a saved one, and gives the number of its items. Nothing is changed before all of it is known to be good. */
export const load = (
  { buckets, clock, faults, state, tokens }: Controlled,
  saved: SavedState
): Effect.Effect<number, Refusal> =>
  Effect.gen(function*() {
    const key = saved.signingKey && (yield* tokens.importKey(saved.signingKey))
    if (saved.signingKey !== undefined && key === undefined) return yield* Effect.fail(invalidKey)
    clock.setOffset(saved.clockOffset)
    const { actions, connections, jobs, profiles, streams, users } = saved.state
    yield* Ref.update(state, (before): State => ({
      // Sound: the schema has checked the fields that the tenant needs, and it only sends the others.
      actions: actions as ReadonlyArray<Action>,
      connections: connections as ReadonlyArray<Connection>,
      jobs: (jobs as ReadonlyArray<Job>).map(restoreInfinite),
      profiles: profiles as ReadonlyArray<Profile>,
      streams: (streams as ReadonlyArray<Stream>).map((stream) => ({
        ...stream,
        events: stream.events.map(restoreInfinite)
      })),
      users: users as ReadonlyArray<User> | undefined ?? before.users
    }))
    yield* tokens.load(saved.tokens, key)
    for (const name of ["tenant", "profileUpdates"] as const) {
      yield* clock.provide(buckets[name].setLeft(Math.min(saved.buckets[name], buckets[name].burst)))
    }
    yield* faults.remove()
    yield* Effect.forEach(saved.faults, (fault) => faults.add(toFault(fault)))
    return [connections, jobs, profiles, actions, streams, users ?? [], saved.tokens, saved.faults].flat().length
  })

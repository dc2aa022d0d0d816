/** What each operation does to the state and answers: one pure function per operation, keyed by its name. */
import * as DateTime from "effect/DateTime"
import type * as operations from "../../operations/index.js"
import { refuse } from "../server/requestBody.js"
import type { Answer } from "../server/response.js"
import * as Respond from "../server/response.js"
import type { Job, Profile, State } from "./state.js"
import * as State_ from "./state.js"

/** A call that may be carried out: its token is verified and its input holds to the declaration. */
interface Call<Input> {
  readonly input: Input
  /** Milliseconds since 1970. */
  readonly now: number
  /** Sixteen fresh letters and digits, for what the call creates. */
  readonly fresh: string
  /** The answer of the operation's status, with this body or none. */
  readonly success: (body?: unknown) => Answer
}

/** An operation: what it answers, and the state that it leaves behind. */
export interface Handler<Input> {
  /** That of its success. */
  readonly status: 200 | 202 | 204
  /** The bucket that it draws on alone. Default: the tenant's. */
  readonly bucket?: "profileUpdates"
  /** Whether only a global client may call it. */
  readonly global?: boolean
  readonly run: (call: Call<Input>, state: State) => readonly [answer: Answer, state: State]
}

type Operations = typeof operations

/** The names of the operations. */
export type OperationName = {
  [Name in keyof Operations]: Operations[Name] extends { readonly endpoint: unknown } ? Name : never
}[keyof Operations]

/** With three fractional digits, as jobs and profiles have them. */
const timestamp = (now: number): string => DateTime.formatIso(DateTime.unsafeMake(now))

type Handlers = { readonly [Name in OperationName]?: Handler<Parameters<Operations[Name]>[0]> }

const invalid = (path: string, message: string): Answer => refuse("Payload", { path, message })

/** Prefixes of the service and its like. */
const reserved = /^(?:urn:(?:ietf|auth0|okta)(?::|$)|https:\/\/(?:[^/?#]+\.)?(?:auth0|okta)\.com(?:[/:?#]|$))/i

const subjectTokenType = (value: string): string | undefined => {
  if (!/^(?:https:\/\/|urn:)/.test(value)) return "Must begin with https:// or urn:"
  return reserved.test(value) ? "This prefix is reserved" : undefined
}

/** The operations that the tenant serves. One without a handler is not there: 404. */
export const handlers: Handlers = {
  createUsersExport: {
    status: 200,
    global: true,
    run: ({ fresh, input, now, success }, state) => {
      const { connection_id, fields, format = "json", limit } = input
      const connection = state.connections.find(({ id }) => id === connection_id)
      if (connection_id !== undefined && connection === undefined) {
        return [invalid("connection_id", `The connection does not exist: ${connection_id}`), state]
      }
      const job: Job = {
        id: `job_${fresh}`,
        type: "users_export",
        status: "pending",
        created_at: timestamp(now),
        ...(connection && { connection: connection.name, connection_id: connection.id }),
        format,
        ...(limit !== undefined && { limit }),
        ...(fields && { fields })
      }
      return [success(job), { ...state, jobs: State_.put(state.jobs, [job]) }]
    }
  },

  updateTokenExchangeProfile: {
    status: 200,
    bucket: "profileUpdates",
    run: ({ input, now, success }, state) => {
      const { id, name, subject_token_type } = input
      const profile = state.profiles.find((profile) => profile.id === id)
      if (profile === undefined) return [Respond.failure(404, "The token exchange profile does not exist."), state]
      const problem = subject_token_type === undefined ? undefined : subjectTokenType(subject_token_type)
      if (problem !== undefined) return [invalid("subject_token_type", problem), state]
      if (state.profiles.some((other) => other.id !== id && other.subject_token_type === subject_token_type)) {
        return [Respond.failure(409, "A token exchange profile with this subject_token_type exists already."), state]
      }
      const updated: Profile = {
        ...profile,
        ...(name !== undefined && { name }),
        ...(subject_token_type !== undefined && { subject_token_type }),
        updated_at: timestamp(now)
      }
      return [success(updated), { ...state, profiles: State_.put(state.profiles, [updated]) }]
    }
  },

  listActionVersions: {
    status: 200,
    run: ({ input, success }, state) => {
      const { actionId, page = 0, per_page = 20 } = input
      const action = state.actions.find(({ id }) => id === actionId)
      if (per_page > 100) return [refuse("Query", { path: "per_page", message: "Must be at most 100" }), state]
      if (action === undefined) return [Respond.failure(404, "The action does not exist."), state]
      const versions = action.versions.slice(page * per_page, (page + 1) * per_page)
      return [
        success({ total: action.versions.length, ...(page > 0 && { page }), per_page, versions }),
        state
      ]
    }
  },

  redeliverEvent: {
    status: 202,
    run: ({ input, now, success }, state) => {
      const stream = state.streams.find(({ id }) => id === input.id)
      const event = stream?.events.find(({ id }) => id === input.event_id)
      if (stream === undefined) return [Respond.failure(404, "The requested stream does not exist."), state]
      if (event === undefined) return [Respond.failure(404, "The requested event does not exist."), state]
      if (event.state !== "failed") {
        return [Respond.failure(409, "The event is not in a state that allows redelivery."), state]
      }
      const events = State_.put(stream.events, [{ id: event.id, state: "queued", queued_at: now }])
      return [success({}), { ...state, streams: State_.put(state.streams, [{ ...stream, events }]) }]
    }
  },

  deleteEventStream: {
    status: 204,
    run: ({ input, success }, state) => [
      success(),
      { ...state, streams: state.streams.filter(({ id }) => id !== input.id) }
    ]
  }
}

/** The behaviour of each operation: a pure function from input and state to response and new state. */
import * as DateTime from "effect/DateTime"
import type * as operations from "../../operations/index.js"
import { invalidField } from "../server/requestInput.js"
import { failure, type PlainResponse } from "../server/response.js"
import { type Job, type Profile, type State, upsert } from "./state.js"

/** A call whose token is verified and whose input is valid. */
interface HandlerContext<Input> {
  readonly input: Input
  /** Milliseconds since 1970. */
  readonly now: number
  /** Sixteen random letters and digits, for an item that the call creates. */
  readonly randomId: string
  /** Makes the operation's successful response, with this body or none. */
  readonly success: (body?: unknown) => PlainResponse
}

export interface OperationHandler<Input> {
  /** The status of a success. */
  readonly status: 200 | 202 | 204
  /** The bucket of its own that limits its calls. Default: the tenant's. */
  readonly bucket?: "profileUpdates"
  /** Only global clients may call it. */
  readonly global?: boolean
  readonly run: (context: HandlerContext<Input>, state: State) => readonly [response: PlainResponse, state: State]
}

type Operations = typeof operations

export type OperationName = {
  [Name in keyof Operations]: Operations[Name] extends { readonly endpoint: unknown } ? Name : never
}[keyof Operations]

/** Formats a time with three fractional digits, as in jobs and profiles. */
const timestamp = (now: number): string => DateTime.formatIso(DateTime.unsafeMake(now))

const invalidPayload = (path: string, message: string): PlainResponse => invalidField("Payload", { path, message })

/** The prefixes that the service reserves. */
const reservedPrefix = /^(?:urn:(?:ietf|auth0|okta)(?::|$)|https:\/\/(?:[^/?#]+\.)?(?:auth0|okta)\.com(?:[/:?#]|$))/i

const subjectTokenTypeError = (value: string): string | undefined => {
  if (!/^(?:https:\/\/|urn:)/.test(value)) return "Must begin with https:// or urn:"
  return reservedPrefix.test(value) ? "This prefix is reserved" : undefined
}

type Handlers = { readonly [Name in OperationName]?: OperationHandler<Parameters<Operations[Name]>[0]> }

/** The operations that the tenant serves. Calls of others give a 404. */
export const handlers: Handlers = {
  createUsersExport: {
    status: 200,
    global: true,
    run: ({ input, now, randomId, success }, state) => {
      const { connection_id, fields, format = "json", limit } = input
      const connection = state.connections.find(({ id }) => id === connection_id)
      if (connection_id !== undefined && connection === undefined) {
        return [invalidPayload("connection_id", `The connection does not exist: ${connection_id}`), state]
      }
      const job: Job = {
        id: `job_${randomId}`,
        type: "users_export",
        status: "pending",
        created_at: timestamp(now),
        ...(connection && { connection: connection.name, connection_id: connection.id }),
        format,
        ...(limit !== undefined && { limit }),
        ...(fields && { fields })
      }
      return [success(job), { ...state, jobs: upsert(state.jobs, [job]) }]
    }
  },

  updateTokenExchangeProfile: {
    status: 200,
    bucket: "profileUpdates",
    run: ({ input, now, success }, state) => {
      const { id, name, subject_token_type } = input
      const profile = state.profiles.find((profile) => profile.id === id)
      if (profile === undefined) return [failure(404, "The token exchange profile does not exist."), state]
      const error = subject_token_type === undefined ? undefined : subjectTokenTypeError(subject_token_type)
      if (error !== undefined) return [invalidPayload("subject_token_type", error), state]
      if (state.profiles.some((other) => other.id !== id && other.subject_token_type === subject_token_type)) {
        return [failure(409, "A token exchange profile with this subject_token_type exists already."), state]
      }
      const updated: Profile = {
        ...profile,
        ...(name !== undefined && { name }),
        ...(subject_token_type !== undefined && { subject_token_type }),
        updated_at: timestamp(now)
      }
      return [success(updated), { ...state, profiles: upsert(state.profiles, [updated]) }]
    }
  },

  listActionVersions: {
    status: 200,
    run: ({ input, success }, state) => {
      const { actionId, page = 0, per_page = 20 } = input
      const action = state.actions.find(({ id }) => id === actionId)
      if (per_page > 100) return [invalidField("Query", { path: "per_page", message: "Must be at most 100" }), state]
      if (action === undefined) return [failure(404, "The action does not exist."), state]
      const versions = action.versions.slice(page * per_page, (page + 1) * per_page)
      return [success({ total: action.versions.length, ...(page > 0 && { page }), per_page, versions }), state]
    }
  },

  redeliverEvent: {
    status: 202,
    run: ({ input, now, success }, state) => {
      const stream = state.streams.find(({ id }) => id === input.id)
      const event = stream?.events.find(({ id }) => id === input.event_id)
      if (stream === undefined) return [failure(404, "The requested stream does not exist."), state]
      if (event === undefined) return [failure(404, "The requested event does not exist."), state]
      if (event.state !== "failed") {
        return [failure(409, "The event is not in a state that allows redelivery."), state]
      }
      const events = upsert(stream.events, [{ id: event.id, state: "queued", queued_at: now }])
      return [success({}), { ...state, streams: upsert(state.streams, [{ ...stream, events }]) }]
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

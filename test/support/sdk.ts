/** The vendor's SDK beside ours: the same call of both, and what each has read, in the same words. */
import { ManagementClient, ManagementError, TokenProvider as SdkTokens } from "auth0"
import { Data, DateTime, Duration, Effect, Option, Redacted } from "effect"
import * as Errors from "../../src/Errors.js"
import {
  createUsersExport,
  deleteEventStream,
  IdentityClient,
  listActionVersions,
  redeliverEvent,
  Retry,
  updateTokenExchangeProfile
} from "../../src/index.js"

/** What a client has read of one answer; what it did not read is not there. */
export interface Reading {
  /** What kind of failure it was taken for, by our names; none: a success. */
  readonly as?: string | undefined
  readonly status?: number | undefined
  readonly value?: unknown
  /** The body of a failure. */
  readonly body?: unknown
  readonly message?: string | undefined
  readonly errorCode?: string | undefined
  readonly requestId?: string | undefined
  /** In seconds. */
  readonly retryAfter?: number | undefined
  readonly limit?: number | undefined
  readonly remaining?: number | undefined
  /** In seconds since 1970. */
  readonly reset?: number | undefined
}

/** It knows https only; servers of tests are on a plain socket of this machine. */
const fetchPlain: typeof fetch = (input, init) => fetch(String(input).replace(/^https:/, "http:"), init)

/** Who calls. */
export type Who = { readonly token: string } | { readonly clientId: string; readonly clientSecret: string }

/** The SDK for the tenant at this origin. It sends again what fails only where a test says so. */
export const sdkOf = (origin: string, who: Who, maxRetries = 0): ManagementClient =>
  new ManagementClient({ domain: new URL(origin).host, ...who, maxRetries, fetch: fetchPlain })

/** What the SDK asks for tokens with. */
export const sdkTokensOf = (
  origin: string,
  who: { readonly clientId: string; readonly clientSecret: string },
  audience = `${origin}/api/v2/`
) => new SdkTokens({ domain: new URL(origin).host, ...who, audience, fetch: fetchPlain })

interface Answered {
  readonly data: unknown
  readonly rawResponse: { readonly status: number; readonly headers: { readonly get: (name: string) => string | null } }
}

const calls = { createUsersExport, updateTokenExchangeProfile, listActionVersions, redeliverEvent, deleteEventStream }

type Calls = typeof calls

/** What both take: members that are not set are not there. */
type Inputs = {
  readonly [N in keyof Calls]: {
    [M in keyof Parameters<Calls[N]>[0]]: Exclude<Parameters<Calls[N]>[0][M], undefined>
  }
}

export type Name = keyof Inputs

/** One call by the SDK, whatever it is of. */
export type Call = { readonly [N in Name]: { readonly operation: N; readonly input: Inputs[N] } }[Name]

const bySdk = (sdk: ManagementClient, call: Call): PromiseLike<Answered> => {
  switch (call.operation) {
    case "createUsersExport": {
      const { fields, ...input } = call.input
      return sdk.jobs.usersExports.create({ ...input, ...(fields && { fields: [...fields] }) }).withRawResponse()
    }
    case "updateTokenExchangeProfile": {
      const { id, ...input } = call.input
      return sdk.tokenExchangeProfiles.update(id, input).withRawResponse()
    }
    case "listActionVersions": {
      const { actionId, ...input } = call.input
      return sdk.actions.versions.list(actionId, input).then(({ rawResponse, response: data }) => ({
        data,
        rawResponse
      }))
    }
    case "redeliverEvent":
      return sdk.eventStreams.redeliveries.createById(call.input.id, call.input.event_id).withRawResponse()
    case "deleteEventStream":
      return sdk.eventStreams.delete(call.input.id).withRawResponse()
  }
}

const byUs = (call: Call): Effect.Effect<unknown, unknown, IdentityClient.IdentityClient> => {
  switch (call.operation) {
    case "createUsersExport":
      return createUsersExport(call.input)
    case "updateTokenExchangeProfile":
      return updateTokenExchangeProfile(call.input)
    case "listActionVersions":
      return listActionVersions(call.input)
    case "redeliverEvent":
      return redeliverEvent(call.input)
    case "deleteEventStream":
      return deleteEventStream(call.input)
  }
}

/** The SDK's class by our name for it. */
const ours: Readonly<Record<string, string>> = {
  BadRequestError: "BadRequest",
  UnauthorizedError: "Unauthorized",
  ForbiddenError: "Forbidden",
  NotFoundError: "NotFound",
  ConflictError: "Conflict",
  TooManyRequestsError: "RateLimited",
  ManagementError: "UnexpectedResponse"
}

const number = (text: string | null | undefined): number | undefined =>
  typeof text === "string" && /^\d+$/.test(text) ? Number(text) : undefined

/** The SDK leaves all headers to its caller, who would read these. */
const headersOf = (get: (name: string) => string | null | undefined) => {
  const [after, date] = [get("retry-after"), get("date")]
  const until = after?.includes(":") === true ? (Date.parse(after) - Date.parse(date ?? "")) / 1000 : undefined
  return {
    limit: number(get("x-ratelimit-limit")),
    remaining: number(get("x-ratelimit-remaining")),
    reset: number(get("x-ratelimit-reset")),
    retryAfter: number(after) ?? until,
    requestId: get("x-auth0-requestid") ?? undefined
  }
}

const memberOf = (body: unknown, name: string): string | undefined => {
  const value = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === "string" ? value : undefined
}

const nothing = (body: unknown) => body === "" ? undefined : body

/** What the SDK has thrown. */
export class Thrown extends Data.TaggedError("Thrown")<{ readonly error: unknown }> {}

/** What the SDK has read of the answer to a call. */
export const readBySdk = (sdk: ManagementClient, call: Call): Effect.Effect<Reading> =>
  Effect.tryPromise({ try: () => bySdk(sdk, call), catch: (error) => new Thrown({ error }) }).pipe(Effect.match({
    onSuccess: ({ data, rawResponse: { headers, status } }): Reading => (
      { status, value: data, ...headersOf((name) => headers.get(name)) }
    ),
    onFailure: ({ error }): Reading => {
      if (!(error instanceof ManagementError)) return { as: String(error) }
      const { body, rawResponse, statusCode } = error
      return {
        as: ours[error.name] ?? error.name,
        status: statusCode,
        body: nothing(body),
        message: memberOf(body, "message"),
        errorCode: memberOf(body, "errorCode"),
        ...headersOf((name) => rawResponse?.headers.get(name))
      }
    }
  }))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return nothing(text)
  }
}

const isFailure = (error: unknown): error is Errors.ErrorDetails & Errors.Quota & { readonly _tag: string } =>
  error instanceof Errors.UnexpectedResponse || (error instanceof Error && "raw" in error && "status" in error)

/** What we have read of the answer to a call. Our own words for an answer that has none are left out. */
export const readByUs = (call: Call): Effect.Effect<Reading, never, IdentityClient.IdentityClient> =>
  Retry.withoutRetries(IdentityClient.withResponse(byUs(call))).pipe(Effect.match({
    onSuccess: ({ response, value }): Reading => {
      const { headers, status } = Option.getOrThrow(response)
      return { status, value, ...headersOf((name) => headers[name]) }
    },
    onFailure: (error): Reading => {
      if (!isFailure(error)) return { as: String(error) }
      const { _tag, errorCode, limit, message, raw, remaining, requestId, resetAt, retryAfter } = error
      return {
        as: _tag,
        status: (error as unknown as { readonly status: number }).status,
        body: raw && parsed(Redacted.value(raw)),
        message: message.startsWith("status ") ? undefined : message,
        errorCode,
        requestId,
        retryAfter: retryAfter && Duration.toSeconds(retryAfter),
        limit,
        remaining,
        reset: resetAt && DateTime.toEpochMillis(resetAt) / 1000
      }
    }
  }))

/** Without the members that are null or `undefined`, at any depth: to both clients they mean that there is none. */
const present = (value: unknown): unknown =>
  Array.isArray(value) ?
    value.map(present)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(
      Object.entries(value).flatMap(([name, value]) =>
        value === null || value === undefined ? [] : [[name, present(value)]]
      )
    )
    : value

/** The paths at which two values are not the same data. */
const paths = (a: unknown, b: unknown, path: string): ReadonlyArray<string> => {
  if (
    typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)
  ) {
    return Object.is(a, b) ? [] : [path]
  }
  const names = new Set([...Object.keys(a), ...Object.keys(b)])
  return [...names].flatMap((name) =>
    paths(
      (a as Record<string, unknown>)[name],
      (b as Record<string, unknown>)[name],
      path === "" ? name : `${path}.${name}`
    )
  )
}

/** Where two clients have not read the same data; no value: there is none. */
export const differences = (a: object, b: object): ReadonlyArray<string> => paths(present(a), present(b), "")

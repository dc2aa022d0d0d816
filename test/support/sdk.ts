/** Makes the same call with the vendor's SDK and with our client, and describes both results in the same terms. */
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

/** The data that a client read from a response; unread data is absent. */
export interface Reading {
  /** The error class, by our names; absent for a success. */
  readonly error?: string | undefined
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

/** The SDK supports only https; test servers use plain http. */
const fetchPlain: typeof fetch = (input, init) => fetch(String(input).replace(/^https:/, "http:"), init)

/** The credentials of the caller. */
export type Credentials = { readonly token: string } | { readonly clientId: string; readonly clientSecret: string }

/** The SDK for a tenant, without retries by default. */
export const sdkOf = (origin: string, credentials: Credentials, maxRetries = 0): ManagementClient =>
  new ManagementClient({ domain: new URL(origin).host, ...credentials, maxRetries, fetch: fetchPlain })

/** The SDK's token provider. */
export const sdkTokensOf = (
  origin: string,
  credentials: { readonly clientId: string; readonly clientSecret: string },
  audience = `${origin}/api/v2/`
) => new SdkTokens({ domain: new URL(origin).host, ...credentials, audience, fetch: fetchPlain })

/** The SDK's token provider with a private key. */
export const sdkTokensByKey = (
  origin: string,
  key: {
    readonly clientId: string
    readonly clientAssertionSigningKey: string
    readonly clientAssertionSigningAlg?: string
  }
) => new SdkTokens({ domain: new URL(origin).host, ...key, audience: `${origin}/api/v2/`, fetch: fetchPlain })

interface SdkResponse {
  readonly data: unknown
  readonly rawResponse: { readonly status: number; readonly headers: { readonly get: (name: string) => string | null } }
}

const calls = { createUsersExport, updateTokenExchangeProfile, listActionVersions, redeliverEvent, deleteEventStream }

type Calls = typeof calls

/** Inputs that both clients accept: fields are absent, never `undefined`. */
type Inputs = {
  readonly [N in keyof Calls]: {
    [M in keyof Parameters<Calls[N]>[0]]: Exclude<Parameters<Calls[N]>[0][M], undefined>
  }
}

export type Name = keyof Inputs

/** A call of any operation. */
export type Call = { readonly [N in Name]: { readonly operation: N; readonly input: Inputs[N] } }[Name]

const callWithSdk = (sdk: ManagementClient, call: Call): PromiseLike<SdkResponse> => {
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

const callWithClient = (call: Call): Effect.Effect<unknown, unknown, IdentityClient.IdentityClient> => {
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

/** Our names for the SDK's error classes. */
const classNames: Readonly<Record<string, string>> = {
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

/** Reads the headers as a caller of the SDK would. */
const readHeaders = (get: (name: string) => string | null | undefined) => {
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

const stringField = (body: unknown, name: string): string | undefined => {
  const value = typeof body === "object" && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === "string" ? value : undefined
}

const bodyOrUndefined = (body: unknown) => body === "" ? undefined : body

/** An error that the SDK threw. */
export class Thrown extends Data.TaggedError("Thrown")<{ readonly error: unknown }> {}

/** Reads a response with the SDK. */
export const readWithSdk = (sdk: ManagementClient, call: Call): Effect.Effect<Reading> =>
  Effect.tryPromise({ try: () => callWithSdk(sdk, call), catch: (error) => new Thrown({ error }) }).pipe(Effect.match({
    onSuccess: ({ data, rawResponse: { headers, status } }): Reading => (
      { status, value: data, ...readHeaders((name) => headers.get(name)) }
    ),
    onFailure: ({ error }): Reading => {
      if (!(error instanceof ManagementError)) return { error: String(error) }
      const { body, rawResponse, statusCode } = error
      return {
        error: classNames[error.name] ?? error.name,
        status: statusCode,
        body: bodyOrUndefined(body),
        message: stringField(body, "message"),
        errorCode: stringField(body, "errorCode"),
        ...readHeaders((name) => rawResponse?.headers.get(name))
      }
    }
  }))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return bodyOrUndefined(text)
  }
}

const isFailure = (error: unknown): error is Errors.ErrorDetails & Errors.Quota & { readonly _tag: string } =>
  error instanceof Errors.UnexpectedResponse || (error instanceof Error && "raw" in error && "status" in error)

/** The service's words in a message; `undefined` if the response has none. */
const serviceMessage = (message: string): string | undefined => {
  const words = message.replace(/^\w+: (?:status \d+ from \S+: )?/, "").replace(
    " (does the base URL lack /api/v2?)",
    ""
  )
  return words.startsWith("no message (") ? undefined : words
}

/** Reads a response with our client. Our own message for a response without one is left out. */
export const readWithClient = (call: Call): Effect.Effect<Reading, never, IdentityClient.IdentityClient> =>
  Retry.withoutRetries(IdentityClient.withResponse(callWithClient(call))).pipe(Effect.match({
    onSuccess: ({ response, value }): Reading => {
      const { headers, status } = Option.getOrThrow(response)
      return { status, value, ...readHeaders((name) => headers[name]) }
    },
    onFailure: (error): Reading => {
      if (!isFailure(error)) return { error: String(error) }
      const { _tag, errorCode, limit, message, raw, remaining, requestId, resetAt, retryAfter } = error
      return {
        error: _tag,
        status: (error as unknown as { readonly status: number }).status,
        body: raw && parsed(Redacted.value(raw)),
        message: serviceMessage(message),
        errorCode,
        requestId,
        retryAfter: retryAfter && Duration.toSeconds(retryAfter),
        limit,
        remaining,
        reset: resetAt && DateTime.toEpochMillis(resetAt) / 1000
      }
    }
  }))

/** Removes fields that are null or `undefined`, at any depth: to both clients they are absent. */
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

/** The paths at which two values differ. */
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

/** The paths at which the data of two clients differ; null and `undefined` count as absent. */
export const differences = (a: object, b: object): ReadonlyArray<string> => paths(present(a), present(b), "")

/** Generates responses that no server should send, to operations and token requests. */
import { FastCheck, type Schema } from "effect"
import { operations, type Subject } from "../support/operations.js"
import { arbitraryOf } from "../support/schemaArbitrary.js"
import { anyHeader, bodies, header } from "./bytes.js"

/** The request: an operation's, or a token request. */
type Target = Subject | "token"

const nameOf = (target: Target): string => target === "token" ? target : target.endpoint.name

const targets: ReadonlyArray<Target> = [...operations, "token"]

/** A generated response. */
export interface FakeResponse {
  /** Over a socket it has three digits; a platform's client may report anything. */
  readonly status: number
  /** Names may occur more than once, in upper or lower case. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array
  /** The number of chunks of the body. */
  readonly pieces: number
  /** `broken` if the connection breaks after the body. */
  readonly end: "whole" | "broken"
}

/** A call and the response to each attempt. Later attempts get the last response. */
export interface Case {
  readonly target: Target
  readonly responses: readonly [FakeResponse, ...ReadonlyArray<FakeResponse>]
}

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`

/** Bodies of error responses and of token responses. */
const failures = [
  { statusCode: 400, error: "Bad Request", message: "Payload validation error: 'x'", errorCode: "invalid_body" },
  { statusCode: 401, error: "Unauthorized", message: "Invalid token", attributes: { error: "Invalid token" } },
  { statusCode: 403, message: "Insufficient scope, expected any of: read:users", errorCode: "insufficient_scope" },
  { error: "too_many_requests", error_description: "Global limit has been reached" },
  { code: "a_code", description: { rules: [{ message: "Some words", verified: false }] } },
  { error: "invalid_client", error_description: "Unauthorized", error_uri: "https://example.com/" },
  {}
].map((body) => JSON.stringify(body))

const tokens = [
  { access_token: "a-token", token_type: "Bearer", expires_in: 86_400, scope: "read:users" },
  { access_token: jwt({ iss: "i", iat: 1_700_000_000, exp: 1_700_086_400 }), token_type: "Bearer" },
  { access_token: jwt({ exp: 1_900_000_000 }), expires_in: "600" },
  { access_token: "" }
].map((body) => JSON.stringify(body))

/** Values of an operation's schema, the same in every run, so that a seed always means the same case. */
const successes = ({ endpoint: { success } }: Subject): ReadonlyArray<string> =>
  success === undefined
    ? ["", "{}", "\"\"", "null", "[]", "accepted"]
    : FastCheck.sample(arbitraryOf(success as Schema.Schema<unknown>), { seed: 11, numRuns: 100 }).map((value) =>
      JSON.stringify(value) ?? ""
    )

const knownHeader = FastCheck.oneof(
  header(
    "content-type",
    "application/json",
    "application/json; charset=utf-8",
    "application/json; charset=utf-16",
    "text/html",
    "text/plain",
    ";",
    "application/problem+json"
  ),
  header("content-length", "0", "1", "5", "200000", "99999999999999999999", "-1", "many"),
  header("content-encoding", "gzip", "br", "identity", "gzip, gzip", "x"),
  header("transfer-encoding", "chunked", "gzip", "identity"),
  header(
    "retry-after",
    "0",
    "1",
    "59",
    "61",
    "3600",
    "999999999999999",
    "9999999999999999",
    "1e9",
    "Tue, 14 Nov 2023 22:13:50 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "+275760-09-13T00:00:00.001Z",
    "12:00"
  ),
  header(
    "date",
    "Tue, 14 Nov 2023 22:13:50 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT",
    "-271821-04-20T00:00:00.000Z",
    "1:1:1"
  ),
  header("x-ratelimit-limit", "2", "50", "0", "999999999999999", "1e3", "-1", "2, 2"),
  header("x-ratelimit-remaining", "0", "1", "49", "100", "999999999999999", "-1"),
  header("x-ratelimit-reset", "0", "1700000000", "1893456000", "1893456030", "999999999999999", "253402300799"),
  header("www-authenticate", "Bearer error=\"insufficient_scope\", scope=\"read:users\"", "scope=\"", "Bearer"),
  header("x-auth0-requestid", "0123456789abcdef"),
  header("x-request-id", "a", "{}"),
  header("location", "https://elsewhere.example.com/", "/", "//", "\\", "javascript:0"),
  header("connection", "close", "keep-alive", "upgrade")
)

const headers = FastCheck.array(
  FastCheck.oneof({ weight: 4, arbitrary: knownHeader }, { weight: 1, arbitrary: anyHeader }),
  { maxLength: 6 }
)

const status = FastCheck.oneof(
  { weight: 6, arbitrary: FastCheck.constantFrom(200, 200, 201, 202, 204, 206, 299) },
  { weight: 6, arbitrary: FastCheck.constantFrom(400, 401, 403, 404, 409, 429, 408, 500, 502, 503) },
  { weight: 1, arbitrary: FastCheck.constantFrom(301, 302, 304, 308) },
  { weight: 2, arbitrary: FastCheck.integer({ min: 100, max: 999 }) }
)

const responsesTo = (target: Target): FastCheck.Arbitrary<FakeResponse> =>
  FastCheck.record({
    status,
    headers,
    body: bodies([...(target === "token" ? tokens : successes(target)), ...failures]),
    pieces: FastCheck.constantFrom(1, 1, 2, 7),
    end: FastCheck.oneof(
      { weight: 9, arbitrary: FastCheck.constant<FakeResponse["end"]>("whole") },
      { weight: 1, arbitrary: FastCheck.constant<FakeResponse["end"]>("broken") }
    )
  })

/** Calls of every kind. */
export const cases: FastCheck.Arbitrary<Case> = FastCheck.oneof(...targets.map((target) => {
  const response = responsesTo(target)
  return FastCheck.record({
    target: FastCheck.constant(target),
    responses: FastCheck.oneof(
      { weight: 3, arbitrary: FastCheck.tuple(response) },
      { weight: 1, arbitrary: FastCheck.tuple(response, response, response) }
    )
  })
}))

/** Splits a body into its chunks. */
export const piecesOf = ({ body, pieces }: FakeResponse): ReadonlyArray<Uint8Array> => {
  const size = Math.max(1, Math.ceil(body.length / pieces))
  return Array.from({ length: Math.ceil(body.length / size) }, (_, nth) => body.subarray(nth * size, (nth + 1) * size))
}

/** Describes a failing case: the request, and each response with its first bytes. */
export const shown = ({ responses, target }: Case): string =>
  [
    nameOf(target),
    ...responses.map(({ body, end, headers, pieces, status }) =>
      `${status} ${JSON.stringify(headers)} ${end}, ${pieces} pieces, ${body.length} bytes: ${
        JSON.stringify(Buffer.from(body.subarray(0, 300)).toString("latin1"))
      }`
    )
  ].join("\n  ")

/** Answers that no server should give, to any operation and to a request for a token. */
import { Arbitrary, FastCheck, type Schema } from "effect"
import { operations, type Subject } from "../support/operations.js"
import { anyHeader, bodies, header } from "./bytes.js"

/** Who asks: an operation, or whoever needs a token. */
type Target = Subject | "token"

const nameOf = (target: Target): string => target === "token" ? target : target.endpoint.name

const targets: ReadonlyArray<Target> = [...operations, "token"]

/** An answer, byte by byte. */
export interface Answer {
  /** On a wire there are three digits; a platform may give anything. */
  readonly status: number
  /** A name may come several times, and in any case. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array
  /** Into how many pieces the body falls. */
  readonly pieces: number
  /** How it ends: the connection may break after all that has come. */
  readonly end: "whole" | "broken"
}

/** One call: who asks, and what each attempt is answered; the last answer is given to all that follow. */
export interface Case {
  readonly target: Target
  readonly answers: readonly [Answer, ...ReadonlyArray<Answer>]
}

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`

/** Bodies as they come with failures, and to a request for a token. */
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

/** Values that satisfy an operation, the same ones in every run, so that a seed means the same in all. */
const successes = ({ endpoint: { success } }: Subject): ReadonlyArray<string> =>
  success === undefined
    ? ["", "{}", "\"\"", "null", "[]", "accepted"]
    : FastCheck.sample(Arbitrary.make(success as Schema.Schema<unknown>), { seed: 11, numRuns: 100 }).map((value) =>
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

const answersTo = (target: Target): FastCheck.Arbitrary<Answer> =>
  FastCheck.record({
    status,
    headers,
    body: bodies([...(target === "token" ? tokens : successes(target)), ...failures]),
    pieces: FastCheck.constantFrom(1, 1, 2, 7),
    end: FastCheck.oneof(
      { weight: 9, arbitrary: FastCheck.constant<Answer["end"]>("whole") },
      { weight: 1, arbitrary: FastCheck.constant<Answer["end"]>("broken") }
    )
  })

/** Calls of all kinds. */
export const cases: FastCheck.Arbitrary<Case> = FastCheck.oneof(...targets.map((target) => {
  const answer = answersTo(target)
  return FastCheck.record({
    target: FastCheck.constant(target),
    answers: FastCheck.oneof(
      { weight: 3, arbitrary: FastCheck.tuple(answer) },
      { weight: 1, arbitrary: FastCheck.tuple(answer, answer, answer) }
    )
  })
}))

/** The pieces that a body falls into. */
export const piecesOf = ({ body, pieces }: Answer): ReadonlyArray<Uint8Array> => {
  const size = Math.max(1, Math.ceil(body.length / pieces))
  return Array.from({ length: Math.ceil(body.length / size) }, (_, nth) => body.subarray(nth * size, (nth + 1) * size))
}

/** A failing case in words: what was asked, and each answer with the first of its bytes. */
export const shown = ({ answers, target }: Case): string =>
  [
    nameOf(target),
    ...answers.map(({ body, end, headers, pieces, status }) =>
      `${status} ${JSON.stringify(headers)} ${end}, ${pieces} pieces, ${body.length} bytes: ${
        JSON.stringify(Buffer.from(body.subarray(0, 300)).toString("latin1"))
      }`
    )
  ].join("\n  ")

/** The steps of one attempt, each around the next: a token, the limiter's leave, an exchange with the service. */
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import { type RateLimited, TokenError, TransportError } from "../Errors.js"
import type { Call, RateLimiter } from "../RateLimiter.js"
import type { TokenProvider } from "../TokenProvider.js"
import type { Deadlines } from "./deadlines.js"
import * as Http from "./http.js"
import * as OAuth from "./oauth.js"
import type { Turn } from "./repeat.js"

/** An answer, and the token of the call that it is for. */
export interface Answered extends Http.Received {
  readonly token: Redacted.Redacted
}

/** Makes a call with a token. Refused, it was not carried out: if there is another token, it is made once more. */
export const authorized = <E>(
  tokens: Context.Tag.Service<TokenProvider>,
  operation: string,
  send: (token: Redacted.Redacted) => Effect.Effect<Http.Received, E>
): Effect.Effect<Answered, E | TokenError> => {
  const get = tokens.get.pipe(
    Effect.filterOrFail(
      (token) => OAuth.isToken(Redacted.value(token)),
      () => new TokenError({ operation, message: "the token holds characters that no header can carry" })
    ),
    Effect.mapError((error) => new TokenError({ ...error, operation, message: error.message }))
  )
  const sendWith = (token: Redacted.Redacted) =>
    Effect.map(send(token), (received): Answered => ({ ...received, token }))
  return Effect.flatMap(
    get,
    (token) =>
      Effect.flatMap(
        sendWith(token),
        (answer) =>
          answer.status !== 401 ? Effect.succeed(answer) : tokens.invalidate(token).pipe(
            Effect.zipRight(get),
            Effect.flatMap((fresh) =>
              Redacted.value(fresh) === Redacted.value(token) ? Effect.succeed(answer) : sendWith(fresh)
            )
          )
      )
  )
}

/** An attempt that nobody times. */
const untimed: Pick<Turn, "pause" | "resume"> = { pause: Effect.void, resume: Effect.void }

/** Makes a call when the limiter gives leave, and then tells it of the answer, or that none came. The wait is not counted. */
export const permitted = <E>(
  limiter: Context.Tag.Service<RateLimiter>,
  call: Call,
  send: Effect.Effect<Http.Received, E>,
  { pause, resume } = untimed
): Effect.Effect<Http.Received, E | RateLimited> =>
  Effect.uninterruptibleMask((restore) =>
    pause.pipe(
      Effect.zipRight(restore(limiter.acquire(call))),
      Effect.zipRight(
        Effect.onExit(
          Effect.zipRight(resume, restore(send)),
          (exit) => limiter.observe(call, Exit.isSuccess(exit) ? exit.value : undefined)
        )
      )
    )
  )

/** Sends a request, once, and reads the answer. The time limit (in milliseconds) covers both. */
export const exchange = (
  http: HttpClient.HttpClient,
  operation: string,
  request: HttpClientRequest.HttpClientRequest,
  options: {
    readonly bodyLimit: (status: number) => number
    readonly deadlines: Deadlines
    readonly limit: Effect.Effect<number>
  }
): Effect.Effect<Http.Received, TransportError> =>
  options.limit.pipe(
    Effect.flatMap((limit) =>
      limit <= 0
        ? new Http.NoAnswer({ outcome: "not-sent", code: "TIMEOUT" })
        : options.deadlines.within(
          Http.exchange(http, request, options.bodyLimit),
          limit,
          (code, hasBegun) => new Http.NoAnswer({ outcome: hasBegun ? "unknown" : "not-sent", code })
        )
    ),
    Effect.mapError(({ code, outcome }) => transportError(operation, outcome, code))
  )

/** The failure of a call that got no answer. */
export const transportError = (
  operation: string,
  outcome: TransportError["outcome"],
  code: string | undefined
): TransportError =>
  new TransportError({
    operation,
    outcome,
    message: `${outcome === "not-sent" ? "the service could not be reached" : "the service gave no answer"}${
      code === undefined ? "" : ` (${code})`
    }`,
    ...(code !== undefined && { code })
  })

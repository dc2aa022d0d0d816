/** The settings that combinators change for the calls in an effect. */
import * as Headers from "@effect/platform/Headers"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ContentType } from "../../Endpoint.js"
import type { ExtraFields } from "../http/extraFields.js"
import type { RawResponse } from "../http/rawExchange.js"
import { makeSetting, withSetting } from "../runtime/fiber.js"

export interface CallSettings {
  readonly contentType: ContentType
  readonly headers: Headers.Headers
  /** Fields that operations do not declare. */
  readonly fields?: ExtraFields
  /** The time limit of each attempt. Default: that of the client. */
  readonly timeout?: Duration.Duration
  /** Called with each response as it arrives. */
  readonly onResponse?: (response: RawResponse) => void
}

export const currentSettings = /* @__PURE__ */ makeSetting("IdentityClient/currentSettings", (): CallSettings => ({
  contentType: "application/json",
  headers: Headers.empty
}))

/** Changes the settings of the calls in an effect. */
export const changeSettings = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  changes: (settings: CallSettings) => Partial<CallSettings>
): Effect.Effect<A, E, R> => withSetting(self, currentSettings, (settings) => ({ ...settings, ...changes(settings) }))

/** The status and the headers of a response. @since 0.1.0 @category models */
export interface ResponseInfo {
  readonly status: number
  readonly headers: Headers.Headers
}

/** Gives each response of the calls in an effect to a function as it arrives. */
const observed = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  onResponse: (response: ResponseInfo) => void
): Effect.Effect<A, E, R> =>
  changeSettings(self, (outer) => ({
    onResponse: (response) => {
      onResponse(response)
      outer.onResponse?.(response)
    }
  }))

/**
 * Adds status and headers of the last response in an effect, also if the call was retried after it; none if no response came, for
 * example with a mock.
 * @since 0.1.0 @category combinators @example `const { response, value } = yield* IdentityClient.withResponse(call)`
 */
export const withResponse = <A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly value: A; readonly response: Option.Option<ResponseInfo> }, E, R> =>
  Effect.suspend(() => {
    let last = Option.none<ResponseInfo>()
    const recorded = observed(self, ({ headers, status }) => void (last = Option.some({ status, headers })))
    return Effect.map(recorded, (value) => ({ value, response: last }))
  })

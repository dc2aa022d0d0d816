/** The behaviour of token exchange profiles. */
import { failure } from "../server/response.js"
import { type Handlers, invalidPayload } from "./operationHandler.js"
import { keysetPage } from "./paging.js"
import { type Profile, upsert } from "./state.js"
import { timestamp } from "./timestamp.js"

/** The prefixes that the service reserves. */
const reservedPrefix = /^(?:urn:(?:ietf|auth0|okta)(?::|$)|https:\/\/(?:[^/?#]+\.)?(?:auth0|okta)\.com(?:[/:?#]|$))/i

const subjectTokenTypeError = (value: string): string | undefined => {
  if (!/^(?:https:\/\/|urn:)/.test(value)) return "Must begin with https:// or urn:"
  return reservedPrefix.test(value) ? "This prefix is reserved" : undefined
}

const noProfile = failure(404, "Token exchange profile not found.")

export const profileHandlers: Handlers<
  "updateTokenExchangeProfile" | "listTokenExchangeProfiles" | "getTokenExchangeProfile"
> = {
  updateTokenExchangeProfile: {
    status: 200,
    bucket: "profileUpdates",
    run: ({ input, now, success }, state) => {
      const { id, name, subject_token_type } = input
      const profile = state.profiles.find((profile) => profile.id === id)
      if (profile === undefined) return [noProfile, state]
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

  listTokenExchangeProfiles: {
    status: 200,
    run: ({ input, success }, state) => {
      const { next, page } = keysetPage(state.profiles, input)
      return [success({ token_exchange_profiles: page, next }), state]
    }
  },

  getTokenExchangeProfile: {
    status: 200,
    run: ({ input, success }, state) => {
      const profile = state.profiles.find(({ id }) => id === input.id)
      return [profile === undefined ? noProfile : success(profile), state]
    }
  }
}

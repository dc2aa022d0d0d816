/** Declares the operation that updates a token exchange profile (contract: Endpoints 2). */
import * as Schema from "effect/Schema"
import { BadRequest, Conflict, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { omittable, oneOf, string, uri } from "../Schemas.js"
import { Timestamp } from "../Timestamp.js"

const tokenExchangeProfile = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    id: omittable(Schema.String),
    name: omittable(Schema.String),
    type: omittable(oneOf("custom_authentication")),
    subject_token_type: omittable(Schema.String),
    action_id: omittable(Schema.String),
    created_at: omittable(Timestamp),
    updated_at: omittable(Timestamp)
  }).annotations({ identifier: "TokenExchangeProfile" })
)

/** A token exchange profile; every field is optional (contract: Endpoints 2). @since 0.1.0 @category models */
export interface TokenExchangeProfile extends Schema.Schema.Type<typeof tokenExchangeProfile> {}
/** A token exchange profile; every field is optional (contract: Endpoints 2). @since 0.1.0 @category schemas */
export const TokenExchangeProfile: Schema.Schema<TokenExchangeProfile> = tokenExchangeProfile

/**
 * Updates a token exchange profile (contract: Endpoints 2). Returns the profile if the service sends it, else `undefined`.
 *
 * Sets `name` (3 to 50 characters), `subject_token_type` (a URI of 8 to 100 characters) or both; at least one is required.
 * Requires the scope `update:token_exchange_profiles`. Fails with `NotFound` if the profile does not exist, and with
 * `Conflict` if another profile has this `subject_token_type`.
 *
 * The profile's action must validate the subject token of the exchanged user securely.
 * @since 0.1.0 @category operations
 */
export const updateTokenExchangeProfile = /* @__PURE__ */ Operation.make("updateTokenExchangeProfile", () => ({
  method: "PATCH",
  path: "/token-exchange-profiles/:id",
  params: { id: Schema.String },
  payload: {
    name: Schema.optional(string({ min: 3, max: 50 })),
    subject_token_type: Schema.optional(string({ min: 8, max: 100, format: uri }))
  },
  minProperties: 1,
  success: Schema.UndefinedOr(TokenExchangeProfile),
  scope: "update:token_exchange_profiles",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, Conflict, RateLimited]
}))

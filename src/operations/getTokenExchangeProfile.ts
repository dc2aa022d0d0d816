/** Declares the operation that returns a token exchange profile. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, NotFound, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { TokenExchangeProfile } from "./updateTokenExchangeProfile.js"

/**
 * Returns a token exchange profile.
 *
 * Requires the scope `read:token_exchange_profiles`. Fails with `NotFound` if the profile does not exist.
 * @since 0.1.0 @category operations
 */
export const getTokenExchangeProfile = /* @__PURE__ */ Operation.make("getTokenExchangeProfile", () => ({
  method: "GET",
  path: "/token-exchange-profiles/:id",
  params: { id: Schema.String },
  success: TokenExchangeProfile,
  scope: "read:token_exchange_profiles",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, NotFound, RateLimited]
}))

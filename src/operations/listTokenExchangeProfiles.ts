/** Declares the operation that lists token exchange profiles. */
import * as Schema from "effect/Schema"
import { BadRequest, Forbidden, InsufficientScope, RateLimited, Unauthorized } from "../Errors.js"
import * as Operation from "../Operation.js"
import { integer, list, omittable } from "../Schemas.js"
import { TokenExchangeProfile } from "./updateTokenExchangeProfile.js"

const tokenExchangeProfiles = /* @__PURE__ */ Schema.suspend(() =>
  Schema.Struct({
    next: omittable(Schema.String),
    token_exchange_profiles: list(TokenExchangeProfile)
  }).annotations({ identifier: "TokenExchangeProfiles" })
)

/** A page of token exchange profiles. @since 0.1.0 @category models */
export interface TokenExchangeProfiles extends Schema.Schema.Type<typeof tokenExchangeProfiles> {}
/** A page of token exchange profiles. @since 0.1.0 @category schemas */
export const TokenExchangeProfiles: Schema.Schema<TokenExchangeProfiles> = tokenExchangeProfiles

/**
 * Returns a page of the tenant's token exchange profiles. `Pagination.stream` returns all of them.
 *
 * The page begins at the checkpoint `from`, the `next` of the page before; `take` is its size, from 1 to 100. Requires the scope
 * `read:token_exchange_profiles`.
 * @since 0.1.0 @category operations
 */
export const listTokenExchangeProfiles = /* @__PURE__ */ Operation.make("listTokenExchangeProfiles", () => ({
  method: "GET",
  path: "/token-exchange-profiles",
  query: { from: Schema.optional(Schema.String), take: Schema.optional(integer({ min: 1, max: 100 })) },
  success: TokenExchangeProfiles,
  items: "token_exchange_profiles",
  paging: "checkpoint",
  scope: "read:token_exchange_profiles",
  idempotent: true,
  error: [BadRequest, Unauthorized, InsufficientScope, Forbidden, RateLimited]
}))

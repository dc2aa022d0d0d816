/** How a token provider lets other processes have its tokens. */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { TokenError } from "../../Errors.js"
import type { TokenSource } from "./cache.js"
import type { DatedToken } from "./issuedToken.js"

/** Whose tokens are shared: the client of a tenant, or what has the same name. */
export type Client =
  | { readonly tenant: string; readonly identity: ReadonlyArray<string | undefined> }
  | { readonly name: string }

/** Makes a source of tokens that all processes with the same client share, of the effect that requests one. */
export type Share = (
  client: Client,
  request: Effect.Effect<DatedToken, TokenError>
) => Effect.Effect<TokenSource, never, Scope.Scope>

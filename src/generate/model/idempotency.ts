/** Says which operations are idempotent: by their methods, and by a list of exceptions. */

/** By HTTP, repeating these has the effect of one request. */
const idempotentMethods: ReadonlySet<string> = new Set(["GET", "PUT", "DELETE"])

/**
 * Routes that are idempotent though HTTP does not say so of their method. A route is the method and the path with `{}` for each
 * parameter. Others are not idempotent: a request that takes effect twice is worse than a call that fails.
 */
const idempotentRoutes: ReadonlySet<string> = new Set([
  // These set fields to the values of the request.
  "PATCH /actions/actions/{}",
  "PATCH /actions/modules/{}",
  "PATCH /client-grants/{}",
  "PATCH /clients/{}",
  "PATCH /connections/{}",
  "PATCH /event-streams/{}",
  "PATCH /organizations/{}",
  "PATCH /organizations/{}/connections/{}",
  "PATCH /organizations/{}/discovery-domains/{}",
  "PATCH /organizations/{}/enabled_connections/{}",
  "PATCH /resource-servers/{}",
  "PATCH /roles/{}",
  "PATCH /tenants/settings",
  "PATCH /token-exchange-profiles/{}",
  "PATCH /users/{}/authentication-methods/{}",
  // Sets fields too, and merges those of metadata.
  "PATCH /users/{}",
  // Sets the time at which the credential expires.
  "PATCH /clients/{}/credentials/{}",
  // Replaces the whole list of bindings.
  "PATCH /actions/triggers/{}/bindings",
  // Changes nothing: it returns what a registration would give.
  "POST /clients/cimd/preview"
])

/** Tells whether an operation is idempotent. `path` has its parameters in braces. */
export const isIdempotent = (method: string, path: string): boolean =>
  idempotentMethods.has(method) || idempotentRoutes.has(`${method} ${path.replace(/\{[^}]*\}/g, "{}")}`)

/** Says which operations are idempotent: by their methods, and by a table of exceptions. */

/** By HTTP, repeating these has the effect of one request. */
const byMethod: Readonly<Record<string, boolean>> = { GET: true, PUT: true, DELETE: true, POST: false, PATCH: false }

/**
 * A route is the method and the path with `{}` for each parameter. The reason is for readers. What is not listed and has no method
 * that HTTP calls idempotent is not: a request that takes effect twice is worse than a call that fails.
 */
const known: ReadonlyArray<readonly [route: string, idempotent: boolean, reason: string]> = [
  ["PATCH /actions/actions/{}", true, "sets the fields of the draft to the values of the request"],
  ["PATCH /actions/modules/{}", true, "sets the fields of the draft to the values of the request"],
  ["PATCH /actions/triggers/{}/bindings", true, "replaces the whole list of bindings"],
  ["PATCH /client-grants/{}", true, "sets the fields of the grant to the values of the request"],
  ["PATCH /clients/{}", true, "sets the fields of the client to the values of the request"],
  ["PATCH /clients/{}/credentials/{}", true, "sets the time at which the credential expires"],
  ["PATCH /connections/{}", true, "sets the fields of the connection to the values of the request"],
  ["PATCH /event-streams/{}", true, "sets the fields of the stream to the values of the request"],
  ["PATCH /organizations/{}", true, "sets the fields of the organization to the values of the request"],
  ["PATCH /organizations/{}/connections/{}", true, "sets the fields of the connection to the values of the request"],
  ["PATCH /organizations/{}/discovery-domains/{}", true, "sets the fields of the domain to the values of the request"],
  [
    "PATCH /organizations/{}/enabled_connections/{}",
    true,
    "sets the fields of the connection to the values of the request"
  ],
  ["PATCH /resource-servers/{}", true, "sets the fields of the server to the values of the request"],
  ["PATCH /roles/{}", true, "sets the name and the description of the role"],
  ["PATCH /tenants/settings", true, "sets the settings of the request"],
  ["PATCH /token-exchange-profiles/{}", true, "sets the fields of the profile to the values of the request"],
  ["PATCH /users/{}", true, "sets the fields of the request, and merges those of metadata"],
  ["PATCH /users/{}/authentication-methods/{}", true, "sets the fields of the method to the values of the request"],
  ["POST /clients/cimd/preview", true, "changes nothing: it returns what a registration would give"]
]

const byRoute = new Map(known.map(([route, idempotent]) => [route, idempotent]))

/** Tells whether an operation is idempotent. `path` has its parameters in braces. */
export const isIdempotent = (method: string, path: string): boolean =>
  byRoute.get(`${method} ${path.replace(/\{[^}]*\}/g, "{}")}`) ?? byMethod[method] ?? false

/** Tests which operations are idempotent. */
import { assert, it } from "@effect/vitest"
import { isIdempotent } from "../../../src/generate/model/idempotency.js"

const idempotent: ReadonlyArray<readonly [method: string, path: string]> = [
  ["GET", "/users"],
  ["PUT", "/users/{id}"],
  ["DELETE", "/users/{id}"],
  ["PATCH", "/actions/actions/{id}"],
  ["PATCH", "/actions/modules/{id}"],
  ["PATCH", "/actions/triggers/{triggerId}/bindings"],
  ["PATCH", "/client-grants/{id}"],
  ["PATCH", "/clients/{id}"],
  ["PATCH", "/clients/{client_id}/credentials/{credential_id}"],
  ["PATCH", "/connections/{id}"],
  ["PATCH", "/event-streams/{id}"],
  ["PATCH", "/organizations/{id}"],
  ["PATCH", "/organizations/{id}/connections/{connection_id}"],
  ["PATCH", "/organizations/{id}/discovery-domains/{discovery_domain_id}"],
  ["PATCH", "/organizations/{id}/enabled_connections/{connectionId}"],
  ["PATCH", "/resource-servers/{id}"],
  ["PATCH", "/roles/{id}"],
  ["PATCH", "/tenants/settings"],
  ["PATCH", "/token-exchange-profiles/{id}"],
  ["PATCH", "/users/{id}"],
  ["PATCH", "/users/{id}/authentication-methods/{authentication_method_id}"],
  ["POST", "/clients/cimd/preview"]
]

const others: ReadonlyArray<readonly [method: string, path: string]> = [
  ["POST", "/users"],
  ["PATCH", "/things/{id}"],
  ["PATCH", "/users"],
  ["PATCH", "/users/{id}/things"],
  ["POST", "/clients/{id}"],
  ["CONNECT", "/users"]
]

it("takes an operation for idempotent by its method, or because its route is known", () => {
  const all = [...idempotent, ...others]
  assert.deepStrictEqual(all.filter(([method, path]) => isIdempotent(method, path)), [...idempotent])
})

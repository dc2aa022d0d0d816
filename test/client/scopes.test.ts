/** Tests of the scopes of a declaration: one, several (each is enough), or none. */
import { assert, describe, it } from "@effect/vitest"
import { Endpoint } from "../../src/index.js"

describe("scopesOf", () => {
  it.each<readonly [string | ReadonlyArray<string>, ReadonlyArray<string>]>([
    ["read:users", ["read:users"]],
    [["read:users", "read:user_idp_tokens"], ["read:users", "read:user_idp_tokens"]],
    [[], []]
  ])("gives %j as a list", (scope, expected) => {
    assert.deepStrictEqual(Endpoint.scopesOf({ scope }), expected)
  })
})

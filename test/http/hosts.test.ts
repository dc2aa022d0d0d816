/** Tests of hosts: which ones are this machine, and which text is a domain. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { hostOf, isLoopback, ofDomain } from "../../src/internal/http/baseUrl.js"

describe("isLoopback", () => {
  it.each(["localhost", "tenant.localhost", "[::1]", "127.0.0.1", "127.255.10.100"])("recognizes %s", (host) => {
    assert.isTrue(isLoopback(host))
  })

  it.each([
    "",
    "localhost.example.com",
    "notlocalhost",
    "::1",
    "[::2]",
    "127.0.0",
    "127.0.0.1.example.com",
    "evil127.0.0.1",
    "1.127.0.0.1",
    "127.0.0.1000",
    "128.0.0.1"
  ])("refuses %j", (host) => {
    assert.isFalse(isLoopback(host))
  })
})

it("the host of a URL has its port", () => {
  assert.deepStrictEqual(
    ["https://tenant.example.com:8443/api/v2", "https://Tenant.example.com:443"].map(hostOf),
    ["tenant.example.com:8443", "tenant.example.com"]
  )
})

describe("a domain", () => {
  it.effect.each([
    ["tenant.example.com", "https://tenant.example.com"],
    ["my-tenant_1.eu.example.com", "https://my-tenant_1.eu.example.com"],
    ["Tenant.Example.com:8443", "https://tenant.example.com:8443"],
    ["t:1", "https://t:1"],
    ["localhost:65535", "https://localhost:65535"]
  ])("%s is reached over https", ([domain = "", url = ""]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* ofDomain("caller", domain), url)
    }))

  const notDomain = "expected a domain such as tenant.example.com"

  it.effect.each([
    ["", notDomain],
    ["https://tenant.example.com", notDomain],
    ["tenant.example.com/", notDomain],
    ["/tenant.example.com", notDomain],
    ["user@tenant.example.com", notDomain],
    ["tenant.example.com?a", notDomain],
    ["tenant.example.com#a", notDomain],
    ["tenant example.com", notDomain],
    ["tenant.example.com:", notDomain],
    ["tenant.example.com:https", notDomain],
    ["tenant.example.com:123456", notDomain],
    ["tenant.example.com:443:443", notDomain],
    [":443", notDomain],
    ["tenant.example.com:65536", "expected an absolute URL"]
  ])("%j is refused by the name of its setting", ([domain = "", message = ""]) =>
    Effect.gen(function*() {
      const refused = yield* Effect.either(ofDomain("caller", domain))
      const { issues, operation } = Either.getOrThrow(Either.flip(refused))
      assert.deepStrictEqual({ operation, issues }, { operation: "caller", issues: [{ path: "domain", message }] })
    }))
})

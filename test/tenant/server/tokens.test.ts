/** Tests of the token endpoint. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { decodeJwt, decodeProtectedHeader } from "jose"
import * as Tenant from "../../../src/Tenant.js"
import {
  action,
  credentials,
  host,
  itInProcess,
  listActionVersions,
  requestToken,
  send,
  tokenOf
} from "../support/calls.js"

const { demoClients } = Tenant

describe("the token endpoint", () => {
  itInProcess(
    "issues tokens at both paths, for both content types and all spellings of the audience",
    () =>
      Effect.gen(function*() {
        for (const path of ["/oauth/token", "/oauth/token/"]) {
          for (const audience of ["/api/v2/", "https://any.example/api/v2/", "http://127.0.0.1:8787/api/v2/"]) {
            const parameters = { ...credentials(demoClients.full), audience }
            for (
              const body of [
                HttpBody.unsafeJson(parameters),
                HttpBody.text(new URLSearchParams(parameters).toString(), "application/x-www-form-urlencoded")
              ]
            ) {
              const response = yield* HttpClient.post(`${host}${path}`, { body })
              const json = (yield* response.json) as any
              assert.deepStrictEqual(Object.keys(json).sort(), ["access_token", "expires_in", "scope", "token_type"])
              assert.deepStrictEqual(
                [json.expires_in, json.token_type, json.scope],
                [86400, "Bearer", demoClients.full.scopes.join(" ")]
              )
              assert.strictEqual(response.headers["cache-control"], "no-store")
              assert.isFalse("x-ratelimit-limit" in response.headers)
            }
          }
        }
      })
  )

  itInProcess("issues tokens with the service's claims and the Clock's time", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("90 seconds")
      const token = yield* tokenOf(demoClients.readsActions)
      assert.deepStrictEqual(decodeProtectedHeader(token), { alg: "HS256", typ: "JWT" })
      const { jti, scope, ...claims } = decodeJwt(token)
      assert.match(String(jti), /^\w{22}$/)
      assert.strictEqual(scope, "read:actions")
      assert.deepStrictEqual(claims, {
        iss: "https://tenant.example/",
        sub: "demo-reads-actions@clients",
        aud: "https://tenant.example/api/v2/",
        iat: 90,
        exp: 90 + 60,
        azp: "demo-reads-actions",
        gty: "client-credentials"
      })
    }), { tokenLifetime: "1 minute" })

  itInProcess("issues tokens for ten years if they shall live forever", () =>
    Effect.gen(function*() {
      const { json } = yield* requestToken(credentials(demoClients.full))
      assert.strictEqual(json.expires_in, 10 * 366 * 24 * 60 * 60)
      const { status } = yield* send(listActionVersions, { params: { actionId: action.id }, token: json.access_token })
      assert.strictEqual(status, 200)
    }), { tokenLifetime: Infinity })

  const full = credentials(demoClients.full)
  for (
    const [reason, parameters, status, error, description] of [
      ["a missing grant type", { ...full, grant_type: undefined }, 400, "invalid_request", /parameter: grant_type$/],
      [
        "another grant type",
        { ...full, grant_type: "password" },
        400,
        "unsupported_grant_type",
        /grant type: password$/
      ],
      ["an unknown client", { ...full, client_id: "nobody" }, 401, "invalid_client", /^Unknown client$/],
      ["a wrong secret", { ...full, client_secret: "wrong" }, 401, "invalid_client", /^Unauthorized$/],
      ["a missing secret", { ...full, client_secret: undefined }, 401, "invalid_client", /^Unauthorized$/],
      [
        "a grant type that is not a string",
        { ...full, grant_type: { toString: 1 } },
        400,
        "invalid_request",
        /parameter: grant_type$/
      ],
      [
        "a client id that is not a string",
        { ...full, client_id: { toString: 1 } },
        401,
        "invalid_client",
        /^Unknown client$/
      ],
      [
        "a list that holds the right secret",
        { ...full, client_secret: [full.client_secret] },
        401,
        "invalid_client",
        /^Unauthorized$/
      ],
      [
        "an audience that is not a string",
        { ...full, audience: { toString: 1 } },
        403,
        "access_denied",
        /within domain: $/
      ],
      ["a missing audience", { ...full, audience: undefined }, 403, "access_denied", /within domain: $/],
      [
        "another audience",
        { ...full, audience: "https://elsewhere.example/" },
        403,
        "access_denied",
        /not enabled within domain: https:\/\/elsewhere\.example\/$/
      ],
      [
        "an audience with a path before /api/v2/",
        { ...full, audience: "https://x/y/api/v2/" },
        403,
        "access_denied",
        /\/y\/api\/v2\/$/
      ],
      [
        "an audience with a path after /api/v2/",
        { ...full, audience: "https://x/api/v2/y" },
        403,
        "access_denied",
        /\/api\/v2\/y$/
      ]
    ] as const
  ) {
    itInProcess(`refuses ${reason}`, () =>
      Effect.gen(function*() {
        const { headers, json, status: actualStatus } = yield* requestToken(parameters)
        assert.deepStrictEqual([actualStatus, json.error], [status, error])
        assert.match(json.error_description, description)
        assert.lengthOf(Object.keys(json), 2)
        assert.strictEqual(headers["cache-control"], "no-store")
      }))
  }

  itInProcess("keeps the newest tokens: older ones are refused as if they were revoked", () =>
    Effect.gen(function*() {
      const tokens = yield* Effect.all([tokenOf(), tokenOf(), tokenOf()])
      const statuses = yield* Effect.forEach(tokens, (token) =>
        Effect.map(send(listActionVersions, { params: { actionId: action.id }, token }), ({ status }) =>
          status))
      assert.deepStrictEqual(statuses, [401, 200, 200])
    }), { limits: { tokens: 2 } })

  itInProcess("refuses a body that is too large", () =>
    Effect.gen(function*() {
      const { json, status } = yield* requestToken({ ...full, scope: "x".repeat(1000) })
      assert.deepStrictEqual([status, json.error], [413, "Payload Too Large"])
    }), { limits: { bodySize: 1000 } })

  itInProcess("refuses a body that cannot be parsed", () =>
    Effect.gen(function*() {
      for (
        const body of [
          HttpBody.text("{", "application/json"),
          HttpBody.text("[]", "application/json"),
          HttpBody.text("x", "text/plain"),
          HttpBody.text("grant_type=a&grant_type=b", "application/x-www-form-urlencoded"),
          HttpBody.empty
        ]
      ) {
        const response = yield* HttpClient.post(`${host}/oauth/token`, { body })
        assert.strictEqual(response.status, 400)
        assert.strictEqual(((yield* response.json) as any).error, "invalid_request")
      }
    }))
})

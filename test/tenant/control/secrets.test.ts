/** No secret and no token in full is shown, streamed or saved, unless it is asked for. */
import * as HttpClient from "@effect/platform/HttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/TestClock"
import * as Tenant from "../../../src/Tenant.js"
import { masked } from "../../../src/tenant/control/messages.js"
import { maskBody, maskHeaders, maskTarget, maskValue } from "../../../src/tenant/control/recording/masking.js"
import {
  action,
  call,
  connection,
  createUsersExport,
  credentials,
  endpoints,
  requestToken,
  send
} from "../support/calls.js"
import { control, itControlled, pass, reading } from "../support/control.js"

const { full } = Tenant.demoClients
const getJob = endpoints.find(({ name }) => name === "getJob")!
const listVersions = endpoints.find(({ name }) => name === "listActionVersions")!

/** A destination with a token of its own, and a version with a value. */
const seed: Tenant.Seed = {
  ...Tenant.demo,
  streams: [{
    id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
    events: [],
    destination: {
      type: "webhook",
      configuration: { webhook_authorization: { method: "bearer", token: "canary-of-the-webhook" } }
    }
  }],
  actions: [{
    id: action.id,
    versions: [{ id: "v", secrets: [{ name: "API_KEY", value: "canary-of-the-action" }] as never }]
  }]
}

/** Makes requests with secrets everywhere, and gives those secrets. */
const leave = Effect.gen(function*() {
  const { json: { access_token: token } } = yield* requestToken(credentials(full))
  yield* requestToken({ ...credentials(full), client_secret: "wrong-secret-canary" })
  yield* HttpClient.post("https://tenant.test/oauth/token", {
    headers: { "content-type": "application/x-www-form-urlencoded", cookie: "session=canary-of-the-cookie" }
  })
  const { json: { id } } = yield* send(createUsersExport, { body: { connection_id: connection.id }, token })
  yield* TestClock.adjust("2 seconds")
  const { json: { location } } = yield* send(getJob, { params: { id }, token })
  yield* HttpClient.get(location)
  yield* call(listVersions, { params: { actionId: action.id } })
  yield* HttpClient.get(`https://tenant.test/nowhere?client_secret=canary-of-the-query&x=${token}`)
  const signature = new URL(location).searchParams.get("signature")!
  return [token, Redacted.value(full.secret), "wrong-secret-canary", signature, "canary"] as const
})

const checkNone = (text: string, secrets: ReadonlyArray<string>, where: string) => {
  for (const secret of secrets) assert.notInclude(text, secret, where)
}

describe("without being asked, no secret is", () => {
  itControlled(
    "in the snapshot, in the list of requests, in their details, or in the saved state",
    () =>
      Effect.gen(function*() {
        const secrets = yield* leave
        const { json, text } = yield* control("GET", "/requests")
        assert.lengthOf(json.items, 9)
        checkNone(text, secrets, "requests")
        for (const { id } of json.items) checkNone((yield* control("GET", `/requests/${id}`)).text, secrets, String(id))
        for (const path of ["/state", "/save"]) checkNone((yield* control("GET", path)).text, secrets, path)
      }),
    { seed }
  )

  itControlled("in the stream", () =>
    Effect.gen(function*() {
      const read = yield* reading
      const secrets = yield* leave
      yield* pass(10)
      const text = JSON.stringify(read)
      assert.include(text, "/oauth/token")
      assert.include(text, "/nowhere")
      checkNone(text, secrets, "stream")
    }).pipe(Effect.scoped), { seed })

  itControlled("in an error message", () =>
    Effect.gen(function*() {
      const { text } = yield* control("POST", "/load", { body: { format: "canary" } })
      assert.notInclude(text, "canary")
    }))
})

describe("asked for, secrets", () => {
  itControlled(
    "are in the snapshot, in details and in the saved state, and not in the list",
    () =>
      Effect.gen(function*() {
        const [token, secret] = yield* leave
        assert.include((yield* control("GET", "/state?secrets=include")).text, secret)
        assert.include((yield* control("GET", "/requests/1?secrets=include")).text, token)
        assert.include((yield* control("GET", "/requests/4?secrets=include")).text, `Bearer ${token}`)
        const saved = (yield* control("GET", "/save?secrets=include")).json
        assert.include(JSON.stringify(saved), "canary-of-the-webhook")
        assert.strictEqual(saved.signingKey.kty, "oct")
      }),
    { seed }
  )
})

describe("masking", () => {
  it("hides fields by their names, at any depth, and keeps what is no secret", () => {
    assert.deepStrictEqual(
      maskValue({
        client_secret: "a",
        token_type: "Bearer",
        subject_token_type: "urn:x",
        nested: [{ password: 1, apiKey: true, "x-api-key": "b", name: "c" }],
        secrets: [{ name: "KEY", value: "d", updated_at: "e" }],
        token: null,
        id_token: undefined,
        access_token: "",
        passwordHash: "f",
        credential: "g",
        private_key: "h",
        privateKey: "i",
        text: "eyJhbGciOi.eyJzdWI.c2ln and Bearer  abcdefgh1"
      }),
      {
        client_secret: masked,
        token_type: "Bearer",
        subject_token_type: "urn:x",
        nested: [{ password: masked, apiKey: masked, "x-api-key": masked, name: "c" }],
        secrets: [{ name: "KEY", value: masked, updated_at: "e" }],
        token: null,
        id_token: undefined,
        access_token: masked,
        passwordHash: masked,
        credential: masked,
        private_key: masked,
        privateKey: masked,
        text: `${masked} and Bearer ${masked}`
      }
    )
    const open = { id: "a", name: "b", type: "c", method: "d", username: "e", created_at: "f", updated_at: "g" }
    assert.deepStrictEqual(maskValue({ credentials: [{ ...open, value: "h" }] }), {
      credentials: [{ ...open, value: masked }]
    })
  })

  it("hides headers, and keeps the scheme", () => {
    assert.deepStrictEqual(
      maskHeaders({
        authorization: "Bearer abc",
        "proxy-authorization": "secret",
        cookie: "a=b",
        "set-cookie": "a=b",
        location: "https://files.test/x?signature=abc&part=1",
        accept: "*/*",
        "www-authenticate": "Bearer realm"
      }, []),
      {
        authorization: `Bearer ${masked}`,
        "proxy-authorization": masked,
        cookie: masked,
        "set-cookie": masked,
        location: `https://files.test/x?signature=${masked}&part=1`,
        accept: "*/*",
        "www-authenticate": "Bearer realm"
      }
    )
  })

  it("hides parameters of queries and forms, however they are spelt", () => {
    assert.strictEqual(maskTarget("/x?a=1&client%5Fsecret=b&c", []), `/x?a=1&client%5Fsecret=${masked}&c`)
    assert.strictEqual(
      maskTarget("/x?client_secret+=b&%20token%20=c", []),
      `/x?client_secret+=${masked}&%20token%20=${masked}`
    )
    assert.strictEqual(maskTarget("/x", []), "/x")
    assert.strictEqual(maskTarget("/x?token=a\"b c#d&e=1", []), `/x?token=${masked}&e=1`)
    assert.strictEqual(
      maskTarget("/x?secrets[0][value]=1&secrets[0][name]=A", []),
      `/x?secrets[0][value]=${masked}&secrets[0][name]=A`
    )
    assert.strictEqual(maskTarget("/x?%=1&a[token]=2", []), `/x?%=1&a[token]=${masked}`)
    const form = "grant_type=client_credentials&client_secret=a%26b"
    assert.strictEqual(maskBody(form, []), `grant_type=client_credentials&client_secret=${masked}`)
  })

  it("hides fields of forms, whatever is in their values or before them", () => {
    const cases: ReadonlyArray<readonly [body: string, shown: string]> = [
      ["secrets[0][name]=A&secrets[0][value]=canary", `secrets[0][name]=A&secrets[0][value]=${masked}`],
      ["secrets%5B0%5D%5Bvalue%5D=canary", `secrets%5B0%5D%5Bvalue%5D=${masked}`],
      ["client_secret=a\"canary&x=1", `client_secret=${masked}&x=1`],
      ["client_secret=a#canary&x=1", `client_secret=${masked}&x=1`],
      ["client_secret=a canary=&x=1", `client_secret=${masked}&x=1`],
      ["x=1\nclient_secret = canary", `x=1\nclient_secret =${masked}`],
      ["\"client_secret=canary\"", `"client_secret=${masked}`]
    ]
    for (const [body, shown] of cases) assert.strictEqual(maskBody(body, []), shown)
  })

  it("hides all that follows a name of a secret in a text that is not JSON", () => {
    const cases = [
      "{\"a\":1,\"client_secret\":\"canary\"",
      "{\"client_secret\" : \"a \\\" canary\", \"b\": 1,}",
      "{\"secrets\":[{\"name\":\"a\",\"value\":\"canary\"}]",
      "{\"client\\u005fsecret\":\"canary\"",
      "{client_secret: 'canary'}",
      "\"{\\\"client_secret\\\":\\\"canary\\\"}\"",
      "<client_secret>canary</client_secret>",
      "data: {\"access_token\":\"canary\"}"
    ]
    for (const body of cases) {
      assert.notInclude(maskBody(body, []), "canary")
      assert.include(maskBody(body, []), masked)
    }
    for (const body of ["The token is invalid", "{\"token_type\":\"Bearer\"", "a: 1, b=2&c", "x".repeat(250_000)]) {
      assert.strictEqual(maskBody(body, []), body)
    }
  })

  it("hides tokens wherever they stand, also in a very long text", () => {
    const token = "eyJhbGciOi.eyJzdWI.c2ln"
    for (const before of ["", " ", "(", "a.", "a-b-", "/x/", "{"]) {
      assert.strictEqual(maskTarget(`${before}${token}/`, []), `${before}${masked}/`)
    }
    assert.strictEqual(maskTarget("a_eyJhbGciOi.eyJzdWI.c2ln", []), `a_eyJhbGciOi.eyJzdWI.c2ln`)
    for (const long of ["eyJ-".repeat(250_000), "-eyJ".repeat(250_000), "a-".repeat(500_000)]) {
      assert.strictEqual(maskTarget(`/${long}`, []), `/${long}`)
      assert.strictEqual(maskBody(`${long} ${token}`, []), `${long} ${masked}`)
    }
  })

  it("hides links with signatures in JSON, and secrets that are known in any text", () => {
    assert.strictEqual(
      maskBody("{\"location\":\"http://a.test/f?signature=abc\",\"note\":\"known-secret\"}", ["known-secret"]),
      `{"location":"http://a.test/f?signature=${masked}","note":"${masked}"}`
    )
    assert.strictEqual(maskBody("(known-secret)", ["known-secret"]), `(${masked})`)
    assert.strictEqual(maskBody("\"known-secret\"", ["known-secret"]), `"${masked}"`)
  })
})

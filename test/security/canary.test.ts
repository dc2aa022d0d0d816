/** Plants secrets under every fault of the matrix, and searches them in everything that a program can see or print. */
import { assert, describe, it } from "@effect/vitest"
import { Data, Effect, Exit, Layer, Metric, Redacted, type Scope } from "effect"
import { IdentityClient, Retry, TokenProvider } from "../../src/index.js"
import * as Node from "../../src/Node.js"
import * as Testing from "../../src/Testing.js"
import { found, seen } from "../support/canaries.js"
import { scripted } from "../support/client.js"
import { clientOf, type Platform, platforms, serverFor, tokens } from "../support/faultCalls.js"
import { attempts, limit, planted, type Row, rows } from "../support/faultRows.js"
import { faultServer } from "../support/faultServer.js"
import { first, privateParts, short } from "../support/keys.js"
import { contractOperations, operations, otherOperations, type Subject } from "../support/operations.js"
import { rawServer, responseBytes } from "../support/rawServer.js"
import { form, json, listen } from "../support/tokenServer.js"

const inputs: Record<string, Record<string, unknown>> = {
  createUsersExport: {
    connection_id: "con_Kq7zV3Canary0001",
    fields: [{ name: "kq7zv3.field.0011", export_as: "kq7zv3 title 0012" }]
  },
  updateTokenExchangeProfile: {
    id: "tep_Kq7zV3Canary0002",
    name: "kq7zv3.jane.0021@canary.example",
    subject_token_type: "urn:kq7zv3:type:0022"
  },
  listActionVersions: { actionId: "kq7zv3/action?0031", page: 740_915_831, per_page: 629_481_375 },
  redeliverEvent: { id: "est_Kq7zV3Canary0000000041", event_id: "evt_Kq7zV3Canary0000000042" },
  deleteEventStream: { id: "est_Kq7zV3Canary0000000051" },
  getJob: { id: "job_Kq7zV3Canary0061" },
  listTokenExchangeProfiles: { from: "kq7zv3.from.0071" },
  getTokenExchangeProfile: { id: "tep_Kq7zV3Canary0081" },
  listActions: { triggerId: "kq7zv3.trigger.0091", actionName: "kq7zv3.action.0092", page: 740_915_091 },
  getAction: { id: "kq7zv3/action?0101" },
  getActionVersion: { actionId: "kq7zv3/action?0111", id: "kq7zv3/version?0112" },
  deployActionVersion: { actionId: "kq7zv3/action?0121", id: "kq7zv3/version?0122" },
  listEventStreams: { from: "kq7zv3.from.0131" },
  getEventStream: { id: "est_Kq7zV3Canary0000000141" },
  listDeliveries: {
    id: "est_Kq7zV3Canary0000000151",
    event_types: "kq7zv3.type.0152",
    date_from: "kq7zv3.date.0153",
    from: "kq7zv3.from.0154"
  },
  getDelivery: { id: "est_Kq7zV3Canary0000000161", event_id: "evt_Kq7zV3Canary0000000162" },
  redeliverEvents: {
    id: "est_Kq7zV3Canary0000000171",
    date_from: "2071-07-17T17:17:17Z",
    event_types: ["kq7zv3.type.0172"]
  }
}

/** Every string and number of an input, with its path. */
const leaves = (value: unknown, path: string): ReadonlyArray<readonly [string, string]> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, `${path}.${name}`))
    : [[path, String(value)]]

const token = (nth: number) =>
  `eyJhbGciOiJSUzI1NiJ9.${Buffer.from(`{"kq7zv3.token.${nth}":1}`).toString("base64url")}.c2ln${nth}`

/** A good response with canaries in fields of the schema and in others. */
const value = {
  id: "usr_kq7zv30061",
  text: "kq7zv3.value.0062",
  kind: "kq7zv3.kind.0063",
  name: "jane.0064@kq7zv3.example"
}

const good = JSON.stringify({
  total: 1,
  per_page: 20,
  id: value.text,
  type: value.kind,
  status: value.kind,
  versions: [{ id: value.text, code: value.text, status: value.kind, [value.name]: value.text, [value.id]: 1 }],
  [value.name]: value.text,
  [value.id]: { [value.name]: value.text }
})

const header = "kq7zv3.sent.header.0071"

const canaries: Readonly<Record<string, string>> = {
  ...planted,
  header,
  ...Object.fromEntries(Object.entries(value).map(([name, text]) => [`response.${name}`, text])),
  ...Object.fromEntries([1, 2, 3].map((nth) => [`token ${nth}`, token(nth)])),
  "claims": "kq7zv3.token.",
  "secret": "kq7zv3+client/secret=0081",
  "client": "kq7zv3.client.0082",
  "userinfo": "kq7zv3.userinfo.0083",
  ...Object.fromEntries(Object.entries(inputs).flatMap(([name, input]) => leaves(input, name)))
}

const assertNone = (texts: ReadonlyArray<readonly [name: string, text: string]>) => {
  for (const [name, text] of texts) {
    assert.deepStrictEqual(found(canaries, text), [], `in ${name}: ${text.slice(0, 4000)}`)
  }
}

const call = (operation: Subject) => operation(inputs[operation.endpoint.name] as never)

/** Calls an operation under a fault, by the real clock. */
const into = (row: Row, operation: Subject, platform: Platform) =>
  Effect.gen(function*() {
    const server = yield* serverFor(row, good)
    const tried = call(operation).pipe(
      IdentityClient.withHeaders({ "x-tenant": header }),
      IdentityClient.withTimeout(limit),
      Retry.withPolicy({ attempts, delay: 1 })
    )
    const calls = row.warm === true ? Effect.zipRight(Effect.exit(call(operation)), tried) : tried
    return yield* seen(Effect.provide(calls, clientOf(server, platform, tokens(token))))
  }).pipe(Effect.scoped)

/** All kinds of operations over one transport; over the others, one that reads and one that is sent once. */
const triedOver = (platform: Platform): ReadonlyArray<Subject> =>
  platform === "lean"
    ? [...contractOperations, ...otherOperations]
    : contractOperations.filter(({ endpoint: { name } }) => ["listActionVersions", "redeliverEvent"].includes(name))

for (const platform of ["undici", "fetch", "lean"] as const) {
  describe.concurrent(`under every fault over ${platform}, nothing shows a secret`, () => {
    for (const row of rows) {
      it.live(
        row.name,
        () =>
          Effect.forEach(
            triedOver(platform),
            (operation) =>
              Effect.gen(function*() {
                const { spans, texts } = yield* into(row, operation, platform)
                assertNone(texts)
                // There was something to search.
                assert.includeMembers(
                  spans.map(({ name }) => name),
                  ["program", `identity.${operation.endpoint.name}`]
                )
              })
          )
      )
    }
  })
}

for (const platform of ["undici", "fetch", "lean"] as const) {
  describe.concurrent(`with every fault at the token endpoint over ${platform}, nothing shows a secret`, () => {
    for (const { fault, name, stalls } of rows) {
      // The time-out of a token request is 10 s.
      if (typeof fault === "string" || stalls === true) continue
      it.live(name, () =>
        Effect.gen(function*() {
          const json = JSON.stringify({ access_token: token(1), token_type: "Bearer", [value.name]: value.text })
          const server = yield* faultServer(json, fault)
          const provider = TokenProvider.layerClientCredentials({
            authUrl: new URL(server.url).origin,
            clientId: canaries["client"] ?? "",
            clientSecret: Redacted.make(canaries["secret"] ?? "")
          }).pipe(Layer.provide(platforms[platform]), Layer.orDie)
          const calls = Effect.forEach(operations.slice(0, 1), (operation) => Retry.withoutRetries(call(operation)))
          const { spans, texts } = yield* seen(Effect.provide(calls, clientOf(server, platform, provider)))
          assertNone(texts)
          assert.include(spans.map(({ name }) => name), "identity.token")
        }).pipe(Effect.scoped))
    }
  })
}

class Canary extends Data.Error<{ readonly message: string; readonly cause?: unknown }> {}

describe("nothing shows a secret", () => {
  for (const operation of operations) {
    it.effect(`of ${operation.endpoint.name} that the service repeats in its message`, () =>
      Effect.gen(function*() {
        const words = Object.entries(canaries).filter(([name]) => name.startsWith(`${operation.endpoint.name}.`))
          .filter(([, text]) => !/^\d+$/.test(text))
        const echo = `${words.map(([, text]) => `${text} ${encodeURIComponent(text)}`).join(", ")}, Bearer ${token(1)}`
        for (const status of [400, 401, 403, 404, 409, 418, 429, 500]) {
          const reply = Testing.reply({
            status,
            headers: { "www-authenticate": `Bearer error="${echo}"` },
            body: { statusCode: status, error: echo, message: `no: ${echo}`, errorCode: echo }
          })
          const { exit, texts } = yield* seen(Effect.provide(Retry.withoutRetries(call(operation)), scripted(reply)))
          assert.isTrue(Exit.isFailure(exit))
          assertNone(texts)
        }
      }))
  }

  it.effect("of an invalid input or base URL", () =>
    Effect.gen(function*() {
      const wrong = (operation: Subject) => {
        const input = inputs[operation.endpoint.name] ?? {}
        return Object.keys(input).flatMap((name) => [
          { ...input, [name]: { [planted.body]: canaries["secret"] } },
          { ...input, [name]: `${String(input[name])}\ud800` }
        ])
      }
      for (const operation of operations) {
        for (const input of wrong(operation)) {
          const { exit, texts } = yield* seen(
            Effect.provide(operation(input as never), scripted(Testing.reply({ status: 204 })))
          )
          if (Exit.isFailure(exit)) assertNone(texts)
        }
      }
      for (const userinfo of [`${canaries["userinfo"]}:x@`, `x:${canaries["userinfo"]}@`]) {
        const client = clientOf({ url: `https://${userinfo}t.example.com` }, "lean")
        const provider = TokenProvider.layerClientCredentials({
          authUrl: `https://${userinfo}t.example.com`,
          clientId: "a-client",
          clientSecret: Redacted.make(canaries["secret"] ?? "")
        })
        for (const build of [Layer.build(client), Layer.build(Layer.provide(provider, Node.layerHttpClient))]) {
          const { exit, texts } = yield* seen(Effect.scoped<unknown, unknown, Scope.Scope>(build))
          assert.isTrue(Exit.isFailure(exit))
          assertNone(texts)
        }
      }
    }))

  /** Keys that work and keys that are refused, each with its private parts. */
  const keys: ReadonlyArray<
    readonly [name: string, key: TokenProvider.SigningKey, parts: Readonly<Record<string, string>>]
  > = [
    ["a key", { privateKey: first.privateKey }, privateParts(first)],
    ["a JWK", { privateKey: Redacted.make({ ...first.jwk, kid: "k" }) }, privateParts(first)],
    ["a short key", { privateKey: short.privateKey }, privateParts(short)],
    [
      "a damaged key",
      { privateKey: Redacted.make(`${Redacted.value(first.privateKey).slice(0, 900)}`) },
      privateParts(first)
    ],
    ["a damaged JWK", { privateKey: Redacted.make({ ...first.jwk, n: undefined }) }, privateParts(first)],
    ["damaged JSON", { privateKey: Redacted.make(JSON.stringify(first.jwk).slice(1)) }, privateParts(first)],
    ["a PKCS#1 key", { privateKey: Redacted.make(first.pkcs1) }, privateParts(first)],
    [
      "a function that fails",
      { sign: () => Effect.fail(new Canary({ message: "kq7zv3.kms.0084", cause: "kq7zv3.kms.0084" })) },
      { kms: "kq7zv3.kms.0084" }
    ],
    ["a function that dies", { sign: () => Effect.die("kq7zv3.kms.0084") }, { kms: "kq7zv3.kms.0084" }]
  ]
  for (const [name, key, parts] of keys) {
    it.live(`of ${name}, nor of its assertions`, () =>
      Effect.gen(function*() {
        const sent: Array<string> = []
        const server = yield* listen(({ body, url }, response) => {
          const assertion = form(body).client_assertion ?? ""
          if (url.startsWith("/oauth/")) sent.push(assertion)
          json(response, 401, {
            error: "invalid_client",
            error_description: `no: ${assertion} ${assertion.split(".")[2] ?? ""}`
          })
        })
        const provider = TokenProvider.layerPrivateKeyJwt({ authUrl: server.url, clientId: "c", ...key }).pipe(
          Layer.provide(Node.layerHttpClient)
        )
        const program = Effect.provide(Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get), provider)
        const { exit, texts } = yield* seen(program)
        assert.isTrue(Exit.isFailure(exit))
        const assertions = sent.flatMap((assertion, nth) =>
          [1, 2].map((part) => [`part ${part} of assertion ${nth}`, assertion.split(".")[part] ?? ""] as const)
        )
        for (const [place, text] of texts) {
          assert.deepStrictEqual(
            found({ ...parts, ...Object.fromEntries(assertions) }, text),
            [],
            `in ${place}: ${text}`
          )
        }
      }).pipe(Effect.scoped))
  }

  it.live("though the requests themselves contain them", () =>
    Effect.gen(function*() {
      const server = yield* rawServer((_, socket) => void socket.write(responseBytes(200, {}, good)))
      for (const operation of operations) {
        yield* Effect.exit(Effect.provide(call(operation), clientOf(server, "lean", tokens(token))))
      }
      const sent = server.requests.map(({ body, headers, line }) => `${line} ${JSON.stringify(headers)} ${body}`).join(
        "\n"
      )
      const gone = new Set(found(canaries, sent).map((text) => text.split(" as ")[0]))
      for (const name of Object.keys(canaries)) {
        if (/^(\w+)\./.test(name) && !name.startsWith("response.")) {
          assert.isTrue(gone.has(name), `${name} is never sent`)
        }
      }
    }).pipe(Effect.scoped))
})

describe("the search", () => {
  const places: Record<string, (secret: string) => Effect.Effect<unknown, unknown>> = {
    "a line of the log": (secret) => Effect.log(secret),
    "an annotation": (secret) => Effect.annotateLogs(Effect.log("x"), { secret }),
    "the name of a span": (secret) => Effect.withSpan(Effect.void, secret),
    "an attribute": (secret) => Effect.withSpan(Effect.void, "x", { attributes: { secret } }),
    "an event": (secret) => Effect.useSpan("x", (span) => Effect.sync(() => span.event("x", 0n, { secret }))),
    "the outcome of a span": (secret) => Effect.withSpan(Effect.succeed({ secret }), "x"),
    "a tag of a metric": (secret) => Metric.increment(Metric.tagged(Metric.counter("canary"), "secret", secret)),
    "a message": (secret) => new Canary({ message: secret }),
    "the cause of an error": (secret) => new Canary({ message: "x", cause: { headers: { secret } } }),
    "a defect": (secret) => Effect.die({ secret }),
    "a hidden property": (secret) =>
      Effect.fail(Object.defineProperty(new Canary({ message: "x" }), "secret", { value: secret, enumerable: false }))
  }
  for (const [index, [place, plant]] of Object.entries(places).entries()) {
    it.effect(`finds a canary in ${place}`, () =>
      Effect.gen(function*() {
        const secret = `kq7zv3.own.${index}.0091`
        const spelt = [
          secret,
          Buffer.from(`${"x".repeat(index % 3)}${secret}yz`).toString(index % 2 === 0 ? "base64" : "base64url"),
          Buffer.from(secret).toString("hex").toUpperCase(),
          encodeURIComponent(`${secret}/`)
        ]
        for (const text of spelt) {
          const { texts } = yield* seen(plant(text))
          const all = texts.flatMap(([, text]) => found({ secret }, text))
          assert.isAbove(all.length, 0, text)
        }
      }))
  }

  it.effect("covers the log at every level", () =>
    Effect.gen(function*() {
      const { lines } = yield* seen(Effect.logTrace("a trace").pipe(Effect.annotateLogs("k", "v")))
      assert.isTrue(lines.some((line) => line.includes("a trace")))
    }))
})

/** The OpenAPI document is true: of what the client sends, of what the tenant answers, and of what either refuses. */
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { assert, describe, expect, it } from "@effect/vitest"
import { Validator } from "@seriousme/openapi-schema-validator"
import { Effect, Either, Layer, Redacted } from "effect"
import { createHash } from "node:crypto"
import type * as Endpoint from "../../src/Endpoint.js"
import { IdentityClient, RateLimiter, Retry, TokenProvider } from "../../src/index.js"
import * as Request from "../../src/internal/http/requestEncoder.js"
import { version } from "../../src/internal/http/version.js"
import * as Tenant from "../../src/Tenant.js"
import { examples } from "../../src/tenant/docs/examples.js"
import { accepts, compiled, document, type Exchange, faultsOf, operationOf } from "../support/openapi.js"
import { type FieldValues, operations, part, sample, type Subject } from "../support/operations.js"

const host = "https://tenant.example.com"
const { full, notGlobal, readsActions } = Tenant.demoClients

/** A network that is the tenant, and notes what goes over it. */
const noting = (exchanges: Array<Exchange>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.make((request, url) =>
        Effect.gen(function*() {
          const response = yield* client.execute(request)
          const text = yield* Effect.orDie(response.text)
          const { body } = request
          exchanges.push({
            method: request.method,
            path: url.pathname,
            query: [...url.searchParams],
            contentType: request.headers["content-type"],
            body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : undefined,
            status: response.status,
            headers: response.headers,
            responseBody: text
          })
          const { headers, status } = response
          return HttpClientResponse.fromWeb(request, new Response(status === 204 ? null : text, { status, headers }))
        })
      ))
  )

const clientOf = ({ id, secret }: Tenant.Client) =>
  IdentityClient.layer({ baseUrl: `${host}/api/v2` }).pipe(
    Layer.provide(RateLimiter.layerUnlimited),
    Layer.provide(TokenProvider.layerClientCredentials({ authUrl: host, clientId: id, clientSecret: secret }))
  )

/** Runs against a tenant of its own; gives what went over the wire. */
const exchangesOf = (
  run: Effect.Effect<unknown, unknown, HttpClient.HttpClient | Tenant.Tenant>,
  options?: Tenant.Options
) =>
  Effect.suspend(() => {
    const exchanges: Array<Exchange> = []
    const network = Layer.provideMerge(
      Layer.provide(noting(exchanges), Tenant.layerHttpClient),
      Tenant.layer(options)
    )
    return Effect.as(Effect.provide(Effect.ignore(run), network), exchanges)
  })

const example = ({ endpoint: { name } }: Subject) => (examples as Readonly<Record<string, FieldValues>>)[name] ?? {}

const callAs = (client: Tenant.Client, operation: Subject, input: unknown = example(operation)) =>
  Effect.provide(Retry.withoutRetries(Effect.exit(operation(input as never))), clientOf(client))

/** Holds every exchange to the document, and gives their statuses. */
const statusesOf = (exchanges: ReadonlyArray<Exchange>) => {
  for (const exchange of exchanges) assert.deepStrictEqual(faultsOf(exchange), [], JSON.stringify(exchange))
  return exchanges.map(({ status }) => status)
}

describe("the document", () => {
  it("is the one in openapi.json, which `npm test -- openapi --update` writes anew", async () => {
    const { info } = document
    assert.strictEqual(info.version, version)
    const lasting = { ...document, info: { ...info, version: "(the version of the package)" } }
    await expect(`${JSON.stringify(lasting, null, 2)}\n`).toMatchFileSnapshot("openapi.json")
  })

  it.effect("is accepted by a validator", () =>
    Effect.gen(function*() {
      const { errors, valid } = yield* Effect.promise(() => new Validator().validate(structuredClone(document)))
      assert.isTrue(valid, JSON.stringify(errors))
    }))

  it("holds schemas that compile strictly, all of them used", () => {
    const names = Object.keys(document.components.schemas)
    assert.isAbove(names.length, 0)
    const text = JSON.stringify(document)
    for (const name of names) {
      compiled({ $ref: `#/components/schemas/${name}` })
      assert.include(text, `"#/components/schemas/${name}"`)
    }
  })

  it("describes every route by its declaration, and nothing else", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => [
        method.toUpperCase(),
        path.replace(/\{([^}]+)\}/g, ":$1"),
        security.map((scheme) => Object.values(scheme)[0]?.[0])
      ])
    )
    assert.sameDeepMembers(
      described,
      Tenant.routes.map(({ method, path, scope }) => [method, path, scope === undefined ? [] : [scope, scope]])
    )
    for (const { endpoint } of operations) {
      const { operationId, responses } = operationOf(endpoint)
      assert.strictEqual(operationId, endpoint.name)
      const declared = new Set(endpoint.error.map(({ status }) => String(status)))
      assert.deepStrictEqual(
        Object.keys(responses).filter((status) => !status.startsWith("2")),
        [...[...declared].toSorted(), "default"]
      )
    }
  })

  it("has an example for each operation, which it accepts", () => {
    for (const operation of operations) {
      assert.isTrue(accepts(operation.endpoint, example(operation)), operation.endpoint.name)
    }
  })

  for (const { endpoint, ...rest } of operations.map((operation) => ({ endpoint: operation.endpoint, operation }))) {
    it(`accepts of inputs of ${endpoint.name} those that the client sends`, () => {
      const verdicts = variants(endpoint, sample(rest.operation)).map((input) => {
        const sent = Either.isRight(Request.validate(endpoint as Endpoint.Endpoint<unknown, unknown, unknown>, input))
        assert.strictEqual(accepts(endpoint, input), sent, JSON.stringify(input))
        return sent
      })
      assert.include(verdicts, true)
      assert.include(verdicts, false)
    })
  }
})

/** Other values in the place of each member at any depth; the member gone; a member more. */
const others = (value: unknown): ReadonlyArray<unknown> => {
  const texts = ["", "ab", "abc", "x".repeat(8), ...[25, 26, 27, 50, 51, 100, 101].map((length) => "é".repeat(length))]
  const here = [...texts, "csv", "con_0123456789abcdef", "urn:example:x", 0, 1, -1, 1.5, true, null, [], {}]
  const inside = Array.isArray(value)
    ? value.flatMap((item, index) => others(item).map((other) => value.toSpliced(index, 1, other)))
    : typeof value === "object" && value !== null
    ? [...variantsOf(value as FieldValues)]
    : []
  return [...here, ...inside]
}

const variantsOf = (members: FieldValues): ReadonlyArray<FieldValues> => [
  members,
  { ...members, unknown_member: "x" },
  ...Object.keys(members).map((name) =>
    Object.fromEntries(Object.entries(members).filter(([other]) => other !== name))
  ),
  ...Object.entries(members).flatMap(([name, value]) => others(value).map((other) => ({ ...members, [name]: other })))
]

/** Those without a URI that is none: a document can only say that one is expected. And without all that is optional. */
const variants = (endpoint: Endpoint.Any, input: FieldValues): ReadonlyArray<FieldValues> =>
  [...variantsOf(input), part(input, endpoint.params)].filter(({ subject_token_type: type }) =>
    typeof type !== "string" || type.length < 8 || type.length > 100 || URL.canParse(type)
  )

describe("exchanges", () => {
  for (const operation of operations) {
    const { name } = operation.endpoint

    it.effect(`${name} succeeds as described, as JSON and as a form`, () =>
      Effect.gen(function*() {
        for (const as of [<A>(call: A) => call, IdentityClient.withFormBody]) {
          const exchanges = yield* exchangesOf(as(callAs(full, operation)))
          const [token, status] = statusesOf(exchanges)
          assert.strictEqual(token, 200)
          assert.include([200, 202, 204], status)
          assert.property(operationOf(operation.endpoint).responses, String(status))
        }
      }))

    it.effect(`${name} is turned away as described`, () =>
      Effect.gen(function*() {
        const misfits = exchangesOf(
          Effect.gen(function*() {
            yield* callAs({ ...full, secret: Redacted.make("wrong") }, operation)
            yield* callAs({ ...full, id: "nobody" }, operation)
            yield* callAs(notGlobal, operation)
            yield* callAs({ ...readsActions, id: "none" }, operation)
            yield* callAs(full, operation)
            yield* callAs(full, operation)
          }),
          {
            clients: [full, notGlobal, { ...readsActions, id: "none", scopes: ["read:nothing"] }],
            buckets: {
              tenant: { burst: 3, refill: 1, per: "1 minute" },
              profileUpdates: { burst: 3, refill: 1, per: "1 minute" }
            }
          }
        )
        const statuses = statusesOf(yield* misfits)
        for (const status of [200, 401, 403, 429]) assert.include(statuses, status)
      }))

    it.effect(`${name} is refused as described, whatever is sent`, () =>
      Effect.gen(function*() {
        const { method, params, path, payload } = operation.endpoint
        const url = (id: string) =>
          Object.keys(params ?? {}).reduce((path, name) => path.replace(`:${name}`, id), `${host}/api/v2${path}`)
        const send = (url: string, body: string, type: string, authorization?: string) =>
          HttpClient.execute(
            HttpClientRequest.make(method)(url, { ...(authorization !== undefined && { headers: { authorization } }) })
              .pipe(HttpClientRequest.setBody(payload === undefined ? HttpBody.empty : HttpBody.text(body, type)))
          )
        const exchanges = yield* exchangesOf(
          Effect.gen(function*() {
            const answer = yield* HttpClient.post(`${host}/oauth/token`, {
              body: HttpBody.unsafeJson({
                grant_type: "client_credentials",
                client_id: full.id,
                client_secret: Redacted.value(full.secret),
                audience: "/api/v2/"
              })
            })
            const { access_token } = (yield* answer.json) as { readonly access_token: string }
            const bearer = `Bearer ${access_token}`
            yield* send(url("short"), "{}", "application/json", bearer)
            yield* send(url("x".repeat(26)), "{", "application/json", bearer)
            yield* send(url("x".repeat(26)), "<a/>", "text/xml", bearer)
            yield* send(`${url("x".repeat(26))}?page=first&more=1`, "{\"more\":1}", "application/json", bearer)
            yield* send(url("x".repeat(26)), "{\"limit\":1,\"name\":\"name\"}", "application/json", bearer)
            yield* send(url("short"), "{}", "application/json")
            yield* send(url("short"), "{}", "application/json", "Basic x")
          })
        )
        const answers = exchanges.filter(({ status }) => status !== 200)
        assert.isAbove(answers.length, 2)
        for (const exchange of answers) {
          const faults = faultsOf(exchange).filter((fault) => !fault.startsWith("request"))
          assert.deepStrictEqual(faults, [], JSON.stringify(exchange))
        }
      }))
  }

  it.effect("of another kind are found out", () =>
    Effect.gen(function*() {
      const [exports, , list, , remove] = operations
      if (exports === undefined || list === undefined || remove === undefined) return assert.fail("no operations")
      const faults = yield* exchangesOf(
        Effect.gen(function*() {
          const { injectFault } = yield* Tenant.Tenant
          const once = (fault: Tenant.Fault, operation: Subject) =>
            Effect.zipRight(injectFault({ operation: operation.endpoint.name, ...fault }), callAs(full, operation))
          yield* once({ status: 200, body: { versions: [] } }, list)
          yield* once({ status: 400, body: { message: "no status" } }, list)
          yield* once({ status: 200, body: "text" }, exports)
          yield* once({ headers: { "x-ratelimit-limit": undefined } }, exports)
          yield* once({ status: 204, headers: { "x-ratelimit-reset": "soon" } }, remove)
        })
      )
      assert.deepStrictEqual(faults.flatMap(faultsOf).filter((fault) => !fault.includes("X-RateLimit")), [
        "response: invalid body",
        "response: invalid body",
        "response: unexpected media type text/plain; charset=utf-8"
      ])
      assert.includeMembers(faults.flatMap(faultsOf) as Array<string>, [
        "response: header X-RateLimit-Limit",
        "response: header X-RateLimit-Reset"
      ])
    }))

  it.effect("tell what is not there, not in its state, or there twice, as described", () =>
    Effect.gen(function*() {
      const [, updateProfile, listVersions, redeliver] = operations as unknown as readonly [
        Subject,
        Subject,
        Subject,
        Subject
      ]
      const { actions: [, other], streams: [stream] } = Tenant.demo
      const exchanges = yield* exchangesOf(
        Effect.gen(function*() {
          yield* callAs(full, updateProfile, { id: "tep_nobody", name: "Nobody" })
          yield* callAs(full, updateProfile, { ...example(updateProfile), subject_token_type: "urn:ietf:reserved" })
          yield* callAs(full, redeliver, { ...example(redeliver), id: "x".repeat(26) })
          yield* callAs(full, redeliver, { id: stream.id, event_id: stream.events[3].id })
          yield* callAs(full, listVersions, { actionId: other.id })
          yield* callAs(full, listVersions, { actionId: other.id, page: 3, per_page: 0 })
          yield* callAs(full, listVersions, { actionId: "nothing" })
          yield* callAs(full, listVersions, { actionId: other.id, per_page: 101 })
        })
      )
      assert.deepStrictEqual(
        statusesOf(exchanges).filter((_, index) => index % 2 === 1),
        [404, 400, 404, 409, 200, 200, 404, 400]
      )
    }))
})

describe("the tenant describes itself", () => {
  const get = (path: string) => HttpClient.get(`${host}${path}`)

  const law = (name: string, run: () => Effect.Effect<unknown, unknown, HttpClient.HttpClient | Tenant.Tenant>) =>
    it.effect(name, () => Effect.provide(run(), Layer.provideMerge(Tenant.layerHttpClient, Tenant.layer())))

  law("at /openapi.json, by this document", () =>
    Effect.gen(function*() {
      const response = yield* get("/openapi.json")
      assert.strictEqual(response.status, 200)
      assert.strictEqual(response.headers["content-type"], "application/json")
      assert.deepStrictEqual(yield* response.json, Tenant.openapi)
    }))

  law("at /docs, by a page that runs and loads what is its own, and holds no secret", () =>
    Effect.gen(function*() {
      const response = yield* get("/docs")
      const html = yield* response.text
      assert.strictEqual(response.headers["content-type"], "text/html; charset=utf-8")
      assert.strictEqual(response.headers["referrer-policy"], "no-referrer")
      const inline = ["script", "style"].map((tag) => {
        const [found, ...more] = [...html.matchAll(new RegExp(`<${tag}[^>]*>([^]+?)</${tag}>`, "g"))]
        assert.isEmpty(more)
        assert.isDefined(found)
        return `${tag}-src 'sha256-${createHash("sha256").update(found?.[1] ?? "").digest("base64")}'`
      })
      assert.deepStrictEqual((response.headers["content-security-policy"] ?? "").split("; "), [
        "default-src 'none'",
        ...inline,
        "img-src data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'"
      ])
      assert.notMatch(html, /https?:\/\//)
      for (const { id, secret } of Object.values(Tenant.demoClients)) {
        assert.notInclude(html, Redacted.value(secret))
        assert.notInclude(html, id)
        assert.notInclude(JSON.stringify(document), Redacted.value(secret))
      }
    }))

  law(
    "to whoever asks, which is no call: nothing is logged, no fault is used up, no limit drawn on",
    () =>
      Effect.gen(function*() {
        const { injectFault, requests } = yield* Tenant.Tenant
        yield* injectFault({ status: 503 })
        for (const path of ["/docs", "/openapi.json?x=1"]) {
          const { headers, status } = yield* get(path)
          assert.deepStrictEqual(
            [status, headers["cache-control"], headers["x-content-type-options"]],
            [200, "no-store", "nosniff"]
          )
        }
        assert.deepStrictEqual(yield* requests, [])
        assert.strictEqual((yield* get("/api/v2/nothing")).status, 503)
        assert.strictEqual((yield* get("/api/v2/nothing")).headers["x-ratelimit-remaining"], "49")
      })
  )

  law("to HEAD without a body", () =>
    Effect.gen(function*() {
      for (const path of ["/docs", "/openapi.json"]) {
        const response = yield* HttpClient.head(`${host}${path}`)
        assert.deepStrictEqual([response.status, yield* response.text], [200, ""])
        assert.strictEqual(response.headers["content-type"], (yield* get(path)).headers["content-type"])
      }
    }))

  law("at these two paths alone, and only to GET and HEAD", () =>
    Effect.gen(function*() {
      for (const path of ["/docs/", "/docs/x", "/Docs", "/openapi.json/", "/openapi", "/api/v2/docs"]) {
        assert.strictEqual((yield* get(path)).status, 404, path)
      }
      assert.strictEqual((yield* HttpClient.post(`${host}/docs`)).status, 404)
      assert.lengthOf(yield* (yield* Tenant.Tenant).requests, 7)
    }))
})

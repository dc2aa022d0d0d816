/** The links to files of exports: which ones are used, and which one the embedded tenant gives, by the address that it is called at. */
import { FetchHttpClient, HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream, SubscriptionRef } from "effect"
import { createServer } from "node:http"
import { Exports, getJob, IdentityClient, RateLimiter, TokenProvider } from "../../src/index.js"
import { linkOf } from "../../src/internal/exports/job.js"
import * as Node from "../../src/Node.js"
import * as Tenant from "../../src/Tenant.js"
import { cert } from "../support/certificate.js"
import { gzip, jobs, ndjson, send, serve } from "../support/storage.js"
import { tlsTenant } from "../support/tlsTenant.js"

const { full } = Tenant.demoClients

/** A client of the tenant at this origin. */
const clientOf = (origin: string) =>
  IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
    Layer.provide([
      RateLimiter.layer,
      TokenProvider.layerClientCredentials({ authUrl: origin, clientId: full.id, clientSecret: full.secret })
    ])
  )

/** Exports all users. Gives the number of rows, and the origin of the link to the file. */
const exported = Effect.gen(function*() {
  const progress = yield* Exports.makeProgress
  const rows = yield* Stream.runCount(Exports.run({}, { progress }))
  const { job = "" } = yield* SubscriptionRef.get(progress)
  const { location = "" } = yield* getJob({ id: job })
  return { rows, origin: new URL(location).origin }
})

describe("a link", () => {
  const job = { id: "job_1", type: "users_export", status: "completed" }

  it.effect.each([
    "https://storage.example.com/file?signature=s",
    "http://localhost:8787/file",
    "http://files.localhost/file",
    "http://127.0.0.1:8787/file",
    "http://127.20.3.4/file",
    "http://[::1]:8787/file"
  ])("%s is used", (location) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* linkOf({ ...job, location })).href, location)
    }))

  it.effect.each([
    "http://localhost.example.com/file",
    "http://127.0.0.1.example.com/file",
    "http://127.example.com/file",
    "http://notlocalhost/file",
    "http://[::2]/file",
    "http://10.0.0.1/file",
    "http://0.0.0.0/file",
    "http://x@localhost/file",
    "http://:x@127.0.0.1/file",
    "file:///etc/passwd"
  ])("%s is not used", (location) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(linkOf({ ...job, location }))
      assert.deepInclude(error, { _tag: "ExportError", reason: "unsafe-link", job: job.id })
    }))
})

describe.each([["fetch", FetchHttpClient.layer], ["undici", Node.layerHttpClient]] as const)("over %s", (_, http) => {
  it.scopedLive("a link is requested as the service gave it: its signature covers the bytes", () =>
    Effect.gen(function*() {
      const { origin, requests } = yield* serve((to, request) => send(to, request, gzip(ndjson(3))))
      const target = "/a%20b/~u:@(x)/f.gz?Signature=a~b%2Fc%20d+e==&acl&x=%e4&y=%7E&z=:/@"
      const { layer } = jobs(origin, "json", () => Effect.succeed({ location: `${origin}${target}` }))
      assert.strictEqual(yield* Stream.runCount(Exports.run({})).pipe(Effect.provide([layer, http])), 3)
      assert.deepStrictEqual(requests.map(({ url }) => url), [target])
    }))
})

describe("the tenant on a socket", () => {
  it.scopedLive("gives links to its other name, localhost or 127.0.0.1", () =>
    Effect.gen(function*() {
      const server = NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })
      yield* Effect.gen(function*() {
        const origin = yield* HttpServer.addressFormattedWith(Effect.succeed)
        const named = origin.replace("127.0.0.1", "localhost")
        const results = yield* Effect.forEach(
          [origin, named],
          (origin) => Effect.provide(exported, clientOf(origin)),
          { concurrency: 2 }
        )
        assert.deepStrictEqual(results, [{ rows: 100, origin: named }, { rows: 100, origin }])
      }).pipe(Effect.provide([
        Layer.provideMerge(Tenant.layerServer, Layer.merge(Tenant.layer, server)),
        FetchHttpClient.layer
      ]))
    }))

  it.scopedLive("gives https links over TLS; plain http to another machine is not used there either", () =>
    Effect.gen(function*() {
      const { host, tenant } = yield* tlsTenant({})
      yield* Effect.gen(function*() {
        const { origin, rows } = yield* exported
        assert.deepStrictEqual([rows, origin], [100, `https://${host.replace("127.0.0.1", "localhost")}`])
        const file = { type: "users_export", format: "json", status: "completed" }
        yield* tenant.injectFault({
          operation: "getJob",
          status: 200,
          body: { id: "job_1", ...file, location: "http://storage.example.com/file" }
        })
        const error = yield* Effect.flip(Stream.runDrain(Exports.run({})))
        assert.propertyVal(error, "reason", "unsafe-link")
      }).pipe(
        Effect.provide(
          Layer.provideMerge(clientOf(`https://${host}`), Node.layerHttpClientWith({ connect: { ca: cert } }))
        )
      )
    }))
})

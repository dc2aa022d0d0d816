/** Tests of the tenant on a socket. */
import { NodeHttpServer } from "@effect/platform-node"
import * as HttpServer from "@effect/platform/HttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { createServer } from "node:http"
import { connect } from "node:net"
import * as Tenant from "../../../src/Tenant.js"
import { action, credentials, endpoints, fillPath, validCalls, waitForSleep } from "../support/calls.js"

const { demoClients } = Tenant

describe("the tenant on a socket", () => {
  const socket = (
    name: string,
    run: (origin: string, tenant: Tenant.Tenant["Type"]) => Effect.Effect<unknown, unknown>
  ) =>
    it.effect(name, () =>
      Effect.gen(function*() {
        const tenant = yield* Tenant.Tenant
        yield* HttpServer.addressFormattedWith((origin) => run(origin, tenant))
      }).pipe(
        Effect.provide(Tenant.layerServer),
        Effect.provide(
          Layer.merge(Tenant.layer, NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
        )
      ))

  const fetched = (url: string, init?: RequestInit) =>
    Effect.tryPromise({ try: () => fetch(url, init), catch: (error) => error as any })
  const text = (response: Response) => Effect.tryPromise({ try: () => response.text(), catch: (error) => error as any })
  const signIn = (origin: string) =>
    Effect.gen(function*() {
      const parameters = { ...credentials(demoClients.full), audience: `${origin}/api/v2/` }
      const response = yield* fetched(`${origin}/oauth/token`, {
        method: "POST",
        body: new URLSearchParams(parameters)
      })
      return { authorization: `Bearer ${JSON.parse(yield* text(response)).access_token}` }
    })

  socket("responds to every operation as in process", (origin) =>
    Effect.gen(function*() {
      const headers = yield* signIn(origin)
      for (const { method, name, path } of endpoints) {
        const { body, params, status } = validCalls[name]!
        const response = yield* fetched(`${origin}/api/v2${fillPath(path, params)}`, {
          method,
          headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
          body: body === undefined ? null : JSON.stringify(body)
        })
        assert.strictEqual(response.status, status)
        assert.strictEqual(response.headers.get("date"), "Thu, 01 Jan 1970 00:00:00 GMT")
        assert.match(String(response.headers.get("x-ratelimit-reset")), /^\d+$/)
        assert.match(String(response.headers.get("content-type")), /^application\/json/)
        yield* text(response)
      }
    }))

  socket(
    "destroys the connection for a cut before or within the response",
    (origin, tenant) =>
      Effect.gen(function*() {
        const headers = yield* signIn(origin)
        yield* tenant.injectFault({ cut: "before" })
        assert.strictEqual((yield* Effect.flip(fetched(`${origin}/`))).cause.code, "UND_ERR_SOCKET")
        yield* tenant.injectFault({ cut: "within" })
        const response = yield* fetched(`${origin}/api/v2/actions/actions/${action.id}/versions`, { headers })
        assert.strictEqual(response.status, 200)
        assert.strictEqual((yield* Effect.flip(text(response))).message, "terminated")
        assert.strictEqual((yield* fetched(`${origin}/`)).status, 404)
      })
  )

  socket("sends exactly half of the body for a cut within", (origin, tenant) =>
    Effect.gen(function*() {
      yield* tenant.injectFault({ cut: "within", body: "0123456789" })
      const received = yield* raw(origin, "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
      assert.match(received, /^HTTP\/1.1 200 OK\r\n/)
      assert.match(received, /\r\ncontent-length: 10\r\n[^]*\r\n\r\n01234$/i)
    }))

  socket("sends no date and no content type if a fault removes them", (origin, tenant) =>
    Effect.gen(function*() {
      yield* tenant.injectFault({ headers: { Date: undefined, "Content-Type": undefined } })
      const received = yield* raw(origin, "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
      assert.match(received, /^HTTP\/1.1 404 Not Found\r\n/)
      assert.notMatch(received, /\r\n(?:date|content-type):/i)
      const next = yield* raw(origin, "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
      assert.match(next, /\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n/i)
    }))

  socket(
    "reads a target that is a whole URL, contains a URL, or contains a raw `#`",
    (origin, tenant) =>
      Effect.gen(function*() {
        const targets = [
          ["http://localhost/a?b", "/a", [["b", ""]]],
          ["http://localhost?b", "", [["b", ""]]],
          ["/a/http://x.test/b", "/a/http://x.test/b", []],
          ["/a#b", "/a#b", []]
        ] as const
        for (const [target] of targets) {
          yield* raw(origin, `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
        }
        assert.deepStrictEqual(
          (yield* tenant.requests).map(({ path, query }) => [path, query]),
          targets.map(([, path, query]) => [path, query])
        )
      })
  )

  const hosts = {
    accepted: [
      "localhost",
      "LOCALHOST:80",

      "tenant.localhost:8787",
      "127.0.0.1",
      "127.9.9.9:8787",
      "[::1]:8787"
    ],
    refused: [
      "attacker.example",
      "attacker.example:8787",
      "localhost.attacker.example",
      "127.0.0.1.attacker.example",
      "127.0.0.1@attacker.example",
      "attackerlocalhost",
      "192.168.0.1",
      "0.0.0.0",
      "::1",
      "x [::1]",
      ""
    ]
  }

  socket(
    "accepts loopback hosts only, because it is bound to one: a web page may rename its host to this machine",
    (origin, tenant) =>
      Effect.gen(function*() {
        const statusOf = (host: string) =>
          Effect.map(
            raw(origin, `GET /openapi.json HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
            (received) => received.slice(0, 12)
          )
        for (const host of hosts.accepted) assert.strictEqual(yield* statusOf(host), "HTTP/1.1 200", host)
        for (const host of hosts.refused) assert.strictEqual(yield* statusOf(host), "HTTP/1.1 421", host)
        const { port } = new URL(origin)
        const body = new URLSearchParams(credentials(demoClients.full)).toString()
        const refused = yield* raw(
          origin,
          `POST /oauth/token HTTP/1.1\r\nhost: attacker.example:${port}\r\nconnection: close\r\n` +
            `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`
        )
        assert.match(refused, /^HTTP\/1.1 421 /)
        assert.notInclude(refused, "access_token")
        assert.deepStrictEqual(yield* tenant.requests, [])
        const old = yield* raw(origin, "GET /openapi.json HTTP/1.0\r\n\r\n")
        assert.match(old, /^HTTP\/1.1 421 /, "without a host")
      })
  )

  const allowing = (allowedHosts: ReadonlyArray<string> | undefined, host: string) =>
    HttpServer.addressFormattedWith((origin) =>
      raw(
        `http://127.0.0.1:${new URL(origin).port}`,
        `GET /openapi.json HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`
      )
    ).pipe(
      Effect.map((received) => received.slice(9, 12)),
      Effect.provide(Tenant.layerServer),
      Effect.provide(
        Layer.merge(
          Tenant.layerWith({ allowedHosts }),
          NodeHttpServer.layer(createServer, { port: 0, host: "0.0.0.0" })
        )
      )
    )

  it.effect("accepts the hosts that are allowed, whatever it is bound to, and then also addresses", () =>
    Effect.gen(function*() {
      for (const host of ["tenant.example", "192.0.2.7"]) {
        assert.strictEqual(yield* allowing(undefined, host), "421", host)
      }
      for (const host of ["tenant.example", "Tenant.Example:80", "192.0.2.7:80", "[2001:db8::1]", "localhost"]) {
        assert.strictEqual(yield* allowing(["TENANT.example"], host), "200", host)
      }
      for (
        const host of ["", "x.tenant.example", "tenant.example.", "192.0.2.7.attacker.example", "tenant.example@x"]
      ) {
        assert.strictEqual(yield* allowing(["tenant.example"], host), "421", host)
      }
      for (const bad of ["http://tenant", "tenant:80", "", "*"]) {
        const { issues } = yield* Effect.flip(Tenant.make({ allowedHosts: ["tenant", bad] }))
        assert.deepStrictEqual(issues.map(({ path }) => path), ["allowedHosts[1]"])
      }
    }))

  for (const kind of ["with its length", "in chunks"] as const) {
    socket(
      `refuses a body ${kind} that is too large with 413, and does not keep it`,
      (origin, tenant) =>
        Effect.gen(function*() {
          const headers = { ...(yield* signIn(origin)), "content-type": "application/json" }
          const post = (text: string) =>
            fetched(`${origin}/api/v2/jobs/users-exports`, {
              method: "POST",
              headers,
              body: kind === "in chunks" ? new Blob([text]).stream() : text,
              duplex: "half"
            } as RequestInit)
          const fitting = `{"format":"json"${" ".repeat(65_536 - 17)}}`
          assert.strictEqual((yield* post(fitting)).status, 200)
          for (const text of [`${fitting} `, `${fitting}${" ".repeat(5_000_000)}`]) {
            const response = yield* post(text)
            assert.strictEqual(response.status, 413)
            assert.deepInclude(JSON.parse(yield* Effect.promise(() => response.text())), {
              statusCode: 413,
              error: "Payload Too Large"
            })
          }
          assert.lengthOf((yield* tenant.state).jobs, Tenant.demo.jobs.length + 1)
          const [, first, ...rest] = yield* tenant.requests
          assert.deepStrictEqual(first?.body, { format: "json" })
          assert.deepStrictEqual(rest.map(({ body, status }) => [body, status]), [[undefined, 413], [undefined, 413]])
        })
    )
  }

  socket("records no status for a client that disconnects", (origin, tenant) =>
    Effect.gen(function*() {
      yield* tenant.injectFault({ delay: "1 minute" })
      const aborted = new AbortController()
      const fiber = yield* Effect.fork(Effect.exit(fetched(`${origin}/`, { signal: aborted.signal })))
      yield* waitForSleep
      aborted.abort()
      assert.isTrue(Exit.isFailure(yield* Fiber.join(fiber)))
      assert.isUndefined((yield* tenant.requests)[0]!.status)
    }))

  /** Sends the bytes, and gives everything received until the connection ends. */
  const raw = (origin: string, bytes: string) =>
    Effect.async<string>((resume) => {
      let received = ""
      const { hostname, port } = new URL(origin)
      connect(Number(port), hostname)
        .on("data", (chunk) => void (received += chunk.toString()))
        .on("close", () => resume(Effect.succeed(received)))
        .write(bytes)
    })
})

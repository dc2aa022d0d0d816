/** Tests that identifiers are in telemetry only where the guide says that they are. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { IdentityClient, listActionVersions, RateLimiter, redeliverEvent, TokenProvider } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"
import { found, seen } from "../support/canaries.js"
import { guide } from "../support/documentation.js"
import * as TestJobs from "../support/jobs.js"
import { ids, service, stream, transport } from "../support/redelivery.js"
import { inProcess } from "../support/tokenServer.js"

const [, section = ""] = /^## Identifiers\n([^]*?)^## /m.exec(guide("telemetry")) ?? []

/** What logs write where an identifier is inserted. */
const identified = /\$\{[^{}]*(?:\b(?:id|key|holder)\b|hostOf\()[^{}]*\}/

describe("identifiers in telemetry", () => {
  it("are in the log lines that the guide lists, and in no others", () => {
    const lines = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => {
        const text = readFileSync(`src/${name}`, "utf8")
        const logged = [
          ...text.matchAll(/(?:log(?:Debug|Info|Warning|Error)\(|\bwarn\(|const warning =)\s*`((?:[^`\\]|\\.)*)`/g),
          // The message of an error that is logged as it is.
          ...text.includes("logWarning(error.message)")
            ? text.matchAll(/const error = new \w+\({ message: `([^`]*)`/g)
            : []
        ]
        return logged.flatMap(([, line = ""]) =>
          identified.test(line) ? [line.replace(/\$\{[^{}]*(?:\{[^{}]*\})*[^{}]*\}/g, "…")] : []
        )
      })
    assert.isAbove(lines.length, 5)
    for (const line of lines) assert.include(section.replace(/\s+/g, " "), `\`${line.replace(/\s+/g, " ")}\``)
    const annotations = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => readFileSync(`src/${name}`, "utf8").split("annotateLogs(").slice(1))
      // The last argument, an object that is not that of an inner call.
      .flatMap((text) => /(?:, |\n +)\{ ([^{}]*) \}\s*\)/.exec(text)?.[1]?.match(/\w+(?=:)/g) ?? [])
    assert.sameMembers([...new Set(annotations)], ["operation", "attempt", "job"])
  })

  it.effect("are the host, and the id of the client on the gauges of token quotas: no id of a resource", () =>
    Effect.gen(function*() {
      const canaries = {
        client: "client-kq7zv3.0001",
        action: "action-kq7zv3.0002",
        stream: "est_Kq7zV3Canary0000000041",
        event: "evt_Kq7zV3Canary0000000042"
      }
      const host = "kq7zv3.tenant.example.com"
      const headers = { "auth0-client-quota-limit": "b=per_hour;q=10;r=1;t=3540" }
      const network = inProcess((nth) =>
        Effect.succeed(
          nth === 1
            ? { headers, body: { access_token: "t", token_type: "Bearer", expires_in: 100 } }
            : { status: 500 }
        )
      )
      const layer = IdentityClient.layer({ domain: host, retry: { attempts: 1 } }).pipe(
        Layer.provide(RateLimiter.layer),
        Layer.provide(TokenProvider.layerClientCredentials({
          domain: host,
          clientId: canaries.client,
          clientSecret: Redacted.make("a-secret-of-it")
        })),
        Layer.provide(network.layer)
      )
      const calls = Effect.all([
        Effect.exit(listActionVersions({ actionId: canaries.action })),
        Effect.exit(redeliverEvent({ id: canaries.stream, event_id: canaries.event }))
      ])
      const { exit, texts } = yield* seen(Effect.provide(calls, layer))
      assert.isTrue(Exit.isSuccess(exit))
      assert.isTrue(texts.some(([, text]) => text.includes(host)))
      for (const [name, text] of texts) {
        for (const line of text.split("\n")) {
          const rest = line.startsWith("identity.token.quota.") ? { ...canaries, client: canaries.action } : canaries
          assert.deepStrictEqual(found(rest, line), [], `in ${name}: ${line.slice(0, 200)}`)
        }
      }
      const metrics = texts.find(([name]) => name === "metrics")?.[1] ?? ""
      assert.include(metrics, `identity.client_id ${canaries.client}`)
      assert.include(section, "`identity.client_id`")
    }))

  it.live("are the id of a job in its log lines, but neither that nor its events in spans and metrics", () =>
    Effect.gen(function*() {
      const acme = service((_, nth) => nth < 5 ? Effect.fail(transport("not-sent")) : Effect.void)
      const events = { event: ids(1)[0] ?? "", stream }
      let job = ""
      const run = Effect.gen(function*() {
        const { awaitEnd, submit } = yield* Jobs.Jobs
        job = yield* submit(Jobs.redelivery({ tenant: "acme", key: "night", stream, events: ids(6) }))
        yield* awaitEnd(job)
      })
      const { lines, texts } = yield* seen(Effect.provide(run, TestJobs.over({ acme })))
      assert.isTrue(lines.some((line) => line.includes("the service is unavailable") && line.includes(job)))
      assert.isNotEmpty(job)
      for (const [name, text] of texts) {
        // Effect adds log lines to the span of the program, as events.
        assert.deepStrictEqual(
          found(name === "log" || name === "span program" ? events : { job, ...events }, text),
          [],
          name
        )
      }
    }))

  it("are not denied by the guide", () => {
    assert.notMatch(guide("telemetry").replace(/\s+/g, " "), /no identifier/)
  })
})

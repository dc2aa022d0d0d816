/** Clients with a private key against the embedded tenant, over sockets: rotation, clocks that are off, refused assertions. */
import { HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { createServer } from "node:http"
import * as Tenant from "../../src/Tenant.js"
import * as TokenProvider from "../../src/TokenProvider.js"
import { withClockAhead } from "../runtimes/kit.js"
import { first, second } from "../support/keys.js"
import { get, invalidate, networks } from "../support/tokens.js"

/** Serves a tenant whose client has these public keys. */
const serve = (publicKeys: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const client: Tenant.ClientWithoutSecret = { id: "c", publicKeys, scopes: ["read:actions"], global: false }
    const server = NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })
    const context = yield* Layer.build(
      Layer.provideMerge(Tenant.layerServer, Layer.merge(Tenant.layerWith({ clients: [client] }), server))
    )
    const tenant = Context.get(context, Tenant.Tenant)
    const statuses = Effect.map(tenant.requests, (all) => all.map(({ status }) => status))
    const authUrl = yield* HttpServer.addressFormattedWith(Effect.succeed).pipe(Effect.provide(context))
    return { authUrl, clientId: "c", privateKey: first.privateKey, statuses, tenant }
  })

/** Requests a token, and another one after the first is refused. */
const twice = Effect.gen(function*() {
  yield* invalidate(yield* get)
  yield* get
})

for (const [name, network] of networks) {
  describe(`over ${name}`, () => {
    const provide = (settings: TokenProvider.PrivateKeyJwt) =>
      Effect.provide(Layer.provide(TokenProvider.layerPrivateKeyJwt(settings), network))

    for (
      const [seconds, expected] of [
        [-600, [401, 200, 200]],
        [-60, [200, 200]],
        [60, [401, 200, 200]],
        [600, [401, 200, 200]]
      ] as const
    ) {
      it.scopedLive(`a clock that is ${seconds} s ahead costs at most one request`, () =>
        Effect.gen(function*() {
          const { statuses, ...settings } = yield* serve([first.publicKey])
          yield* withClockAhead(seconds * 1000, provide(settings)(twice))
          assert.deepStrictEqual(yield* statuses, expected as never)
        }))
    }

    it.scopedLive("keys are rotated without a failure: both, then the new one alone", () =>
      Effect.gen(function*() {
        const lines: Array<string> = []
        const logger = Logger.replace(
          Logger.defaultLogger,
          Logger.make(({ message }) => void lines.push(String(message)))
        )
        for (
          const [publicKeys, expected] of [
            [[first.publicKey], [200, 200]],
            [[second.publicKey, first.publicKey], [200, 200]],
            [[second.publicKey], [401, 200, 200]]
          ] as const
        ) {
          const { statuses, ...settings } = yield* serve(publicKeys)
          const rotating = { ...settings, fallbackKeys: [{ privateKey: second.privateKey }] }
          yield* Effect.provide(provide(rotating)(twice), logger)
          assert.deepStrictEqual(yield* statuses, expected as never)
        }
        assert.deepStrictEqual(lines, ["the token endpoint refused key 1 of 2; it accepts key 2"])
      }))

    it.scopedLive("no token request fails if every second assertion is refused", () =>
      Effect.gen(function*() {
        const { statuses, tenant, ...settings } = yield* serve([first.publicKey])
        const refuse = tenant.injectFault({ operation: "token", status: 401 })
        yield* provide(settings)(Effect.gen(function*() {
          yield* refuse
          const token = yield* get
          yield* refuse
          yield* invalidate(token)
          yield* get
        }))
        assert.deepStrictEqual(yield* statuses, [401, 200, 401, 200])
      }))
  })
}

/** An `HttpClient` over undici's connection pools that collects the responses of calls. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Agent, buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from "@effect/platform-node/Undici"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { InvalidInput } from "../Errors.js"
import { isLoopback } from "../internal/http/baseUrl.js"
import * as Collecting from "../internal/http/collecting.js"
import { inOwnFiber } from "../internal/runtime/fiber.js"
import { invalidSetting } from "../internal/schema/issues.js"
import * as TlsKey from "./tlsKey.js"
import * as UndiciDispatcher from "./undiciDispatcher.js"

/** undici's own options; all times are in milliseconds. */
export interface PoolOptions extends
  Pick<
    Pool.Options,
    | "bodyTimeout"
    | "connectTimeout"
    | "connections"
    | "headersTimeout"
    | "keepAliveMaxTimeout"
    | "keepAliveTimeout"
    | "keepAliveTimeoutThreshold"
    | "maxHeaderSize"
    | "maxResponseSize"
  >
{
  /** Options of `tls.connect`, such as `ca`, `cert`, `key` and the key's `passphrase`. */
  readonly connect?: buildConnector.BuildOptions
  /** The URL of a proxy, or the options of undici's `ProxyAgent`. */
  readonly proxy?: string | ProxyAgent.Options
}

/** Makes a pool for each origin, a function that closes them after their requests, and a function that destroys them all. */
const makeDispatchers = ({ connect, proxy, ...options }: PoolOptions) => {
  const pools = new Set<Pool>()
  const settings: Agent.Options = {
    connections: 128,
    keepAliveMaxTimeout: 60_000,
    ...options,
    factory: (origin, options) => {
      for (const pool of pools) if (pool.destroyed) pools.delete(pool)
      const pool = new Pool(origin, options)
      pools.add(pool)
      return pool
    }
  }
  const timeout = { timeout: options.connectTimeout ?? 10_000 }
  // Their constructors refuse wrong options now instead of at the first call.
  for (const Checked of [Client, Pool]) void new Checked("http://localhost", options)
  // All pools share one connector, which keeps TLS sessions even when a pool without connections is dropped.
  const direct = new Agent({ ...settings, connect: buildConnector({ ...timeout, ...connect }) })
  const proxyOptions = typeof proxy === "string" ? { uri: proxy } : proxy
  const proxied = proxyOptions === undefined ? undefined : new ProxyAgent({
    ...settings,
    proxyTls: timeout,
    ...proxyOptions,
    requestTls: { ...timeout, ...connect, ...proxyOptions.requestTls }
  })
  const dispatcher: Dispatcher = proxied === undefined ? direct : proxied.compose(withoutProxyForLoopback(direct))
  return {
    dispatcher,
    close: () => Promise.all([direct.close(), proxied?.close()]),
    destroy: () => pools.forEach((pool) => pool.destroy(() => {}))
  }
}

/** Sends plain http for this machine directly: a proxy would see token and client secret. */
const withoutProxyForLoopback =
  (direct: Dispatcher): Dispatcher.DispatcherComposeInterceptor => (dispatch) => (options, handler) => {
    const { hostname, protocol } = new URL(String(options.origin))
    return protocol === "http:" && isLoopback(hostname) ? direct.dispatch(options, handler) : dispatch(options, handler)
  }

/** Restores the pools' time-outs: the platform's client sets its own for headers and body. */
const withPoolTimeouts: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch({ ...options, headersTimeout: null, bodyTimeout: null }, handler)

/** Makes the client. Closing its scope waits up to 5 s for running requests. */
export const make = (
  operation: string,
  options: PoolOptions
): Effect.Effect<HttpClient.HttpClient, InvalidInput, Scope.Scope> =>
  Effect.gen(function*() {
    const { connect = {} } = options
    const problem = "key" in connect ? TlsKey.problem(connect, "connect.passphrase") : undefined
    if (problem !== undefined) return yield* invalidSetting(operation, "connect.key", problem)
    const { dispatcher } = yield* Effect.acquireRelease(
      Effect.try({
        try: () => makeDispatchers(options),
        catch: (error) => invalidSetting(operation, "options", (error as Error).message) // undici throws nothing else
      }),
      ({ close, destroy }) =>
        Effect.ignore(Effect.tryPromise(close)).pipe(
          Effect.timeoutTo({ duration: "5 seconds", onSuccess: () => {}, onTimeout: destroy }),
          inOwnFiber
        )
    )
    const client = NodeHttpClient.makeUndici(dispatcher.compose(withPoolTimeouts))
    return Collecting.over(client, UndiciDispatcher.collect(dispatcher))
  })

/** HTTP over undici's pools: a client of the platform's for anybody, with a direct way for what this library sends. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Agent, buildConnector, Client, type Dispatcher, Pool, ProxyAgent } from "@effect/platform-node/Undici"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { InvalidInput } from "../Errors.js"
import * as Http from "../internal/http/exchange.js"
import * as Timeouts from "../internal/runtime/timeouts.js"
import * as UndiciDispatcher from "./undiciDispatcher.js"

/** How long closing waits for exchanges that are under way, in milliseconds. */
const grace = 5000

/** undici's own options; all times are in milliseconds. */
export interface Options extends
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
  /** How a connection is made: `ca`, `cert`, `key` and whatever else `tls.connect` takes. */
  readonly connect?: buildConnector.BuildOptions
  /** A proxy: its URL, or that and more. */
  readonly proxy?: string | ProxyAgent.Options
}

/** The pools, one for each origin, and what ends all at once. */
const makeDispatcher = ({ connect, proxy, ...options }: Options) => {
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
  // They refuse what is wrong when they are made: now, and not at the first call.
  for (const Checked of [Client, Pool]) void new Checked("http://localhost", options)
  const dispatcher: Dispatcher = proxy === undefined
    // One connector for all pools: it keeps the TLS sessions, also when a pool has no connection left and goes.
    ? new Agent({ ...settings, connect: buildConnector({ ...timeout, ...connect }) })
    : new ProxyAgent({
      ...settings,
      requestTls: { ...timeout, ...connect },
      proxyTls: timeout,
      ...(typeof proxy === "string" ? { uri: proxy } : proxy)
    })
  return { dispatcher, destroy: () => pools.forEach((pool) => pool.destroy(() => {})) }
}

/** The platform's client sets time limits of its own for the headers and the body; those of the pools are to hold. */
const withOwnLimits: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch({ ...options, headersTimeout: null, bodyTimeout: null }, handler)

/** The client. Closing its scope lets exchanges end that are under way, for up to 5 s. */
export const make = (
  operation: string,
  options: Options
): Effect.Effect<HttpClient.HttpClient, InvalidInput, Scope.Scope> =>
  Effect.gen(function*() {
    const timeouts = yield* Timeouts.make
    const { dispatcher } = yield* Effect.acquireRelease(
      Effect.try({
        try: () => makeDispatcher(options),
        catch: (error) =>
          new InvalidInput({
            operation,
            issues: [{ path: "options", message: error instanceof Error ? error.message : "expected undici's options" }]
          })
      }),
      ({ destroy, dispatcher }) =>
        Effect.async<void>((resume) => {
          const takeBack = timeouts.add(grace, () => {
            destroy()
            resume(Effect.void)
          })
          dispatcher.close(() => {
            takeBack()
            resume(Effect.void)
          })
        })
    )
    const client = NodeHttpClient.makeUndici(dispatcher.compose(withOwnLimits))
    return Http.withLeanTransport(client, UndiciDispatcher.over(dispatcher))
  })

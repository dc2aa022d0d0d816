/** The options of a client, and what its calls share because of them. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { InvalidInput } from "../../Errors.js"
import * as BaseUrl from "../http/baseUrl.js"
import * as Metrics from "../telemetry/metrics.js"
import * as Spans from "../telemetry/spans.js"
import type { Stage } from "./call.js"
import { Circuit, type CircuitOptions } from "./circuit.js"
import type { Guards } from "./guarded.js"
import { RetryBudget } from "./retryBudget.js"
import type { Changes } from "./retryPolicy.js"

/** Settings of a client: the address of its tenant, and the defaults of its calls. @since 0.1.0 @category models */
export type Options =
  & Defaults
  & (
    /** The base URL of the management interface, for example `https://tenant.eu.example.com/api/v2`. */
    | { readonly baseUrl: string; readonly domain?: undefined }
    /** The tenant's domain, for example `tenant.eu.example.com`. The base URL follows from it. */
    | { readonly domain: string; readonly baseUrl?: undefined }
  )

/** Settings for all calls of a client. @since 0.1.0 @category models */
export interface Defaults {
  /** Allows plain http to hosts other than this machine. Default: false. */
  readonly allowInsecure?: boolean | undefined
  /** Limits the time of each attempt; `IdentityClient.withTimeout` around a call wins. Default: 30 s. */
  readonly timeout?: Duration.DurationInput | undefined
  /** Changes the retry policy. `Retry.withPolicy` and `Retry.withoutRetries` around a call win. Default: `Retry.defaultPolicy`. */
  readonly retry?: Changes | undefined
  /**
   * Bounds the retries while the service is unavailable to a share of all calls of this client: 0.2 lets one call of five be retried. Ten
   * retries, and one more in each second, are always allowed. It binds only after 50 attempts in a row, of all operations, got no
   * response, 5xx or 408; until one gets another response. A call that may not be retried fails with its last result. `Infinity`: no
   * bound. Default: 0.2.
   */
  readonly retryBudget?: number | undefined
  /**
   * Refuses calls while the service is unavailable: they fail at once with `TransportError`, `outcome: "not-sent"` and the code
   * `CIRCUIT_OPEN`, unless an attempt before had another outcome. `{}` takes all defaults. Default: no call is refused.
   */
  readonly circuit?: CircuitOptions | undefined
  /**
   * The largest decoded body in bytes, after decompression. A larger one is `UnexpectedResponse`. Default: 64 MiB. A body is parsed in one
   * piece, in about 10 ms for each MiB, or ten times that if it consists of many small values.
   */
  readonly maxBodySize?: number | undefined
  /** Sends `traceparent` with each request, so that the service can continue the trace of the call. Default: false. */
  readonly propagateTrace?: boolean | undefined
  /** Wrap each request of this client, the first outermost, and all around those of `withStage`. Default: none. */
  readonly stages?: ReadonlyArray<Stage> | undefined
}

const isTime = (time: Duration.DurationInput | undefined): boolean => {
  const millis = time === undefined ? 1 : Duration.toMillis(time)
  return millis > 0 && millis < Infinity
}

/** The default of `retryBudget`. */
const defaultBudget = 0.2

const issuesOf = (options: Defaults): InvalidInput["issues"] => {
  const { delay, failures = 1, maxDelay } = options.circuit ?? {}
  const atLeastZero = {
    "retry.attempts": options.retry?.attempts,
    retryBudget: options.retryBudget,
    maxBodySize: options.maxBodySize
  }
  return [
    ...Object.entries(atLeastZero).flatMap(([path, value = 0]) =>
      value >= 0 ? [] : [{ path, message: "expected a number of at least 0" }]
    ),
    ...(Number.isSafeInteger(failures) && failures >= 1
      ? []
      : [{ path: "circuit.failures", message: "expected an integer of at least 1" }]),
    ...Object.entries({ timeout: options.timeout, "circuit.delay": delay, "circuit.maxDelay": maxDelay }).flatMap(
      ([path, time]) => isTime(time) ? [] : [{ path, message: "expected a time above zero" }]
    )
  ]
}

/** Gives the base URL of the tenant that options name; `operation` names the layer in the failure. */
export const tenantOf = (operation: string, options: Options): Effect.Effect<string, InvalidInput> =>
  options.domain === undefined
    ? BaseUrl.parse(operation, "baseUrl", options.baseUrl, options.allowInsecure)
    : Effect.map(BaseUrl.ofDomain(operation, options.domain), (origin) => `${origin}/api/v2`)

/** Validates the options of a client of a tenant, and makes its retry budget and its circuit, which end with the scope. */
export const resolve = (
  operation: string,
  tenant: string,
  options: Defaults
): Effect.Effect<Guards, InvalidInput, Scope.Scope> =>
  Effect.gen(function*() {
    const issues = issuesOf(options)
    if (issues.length > 0) return yield* new InvalidInput({ operation, issues })
    const { retryBudget = defaultBudget } = options
    const circuit = options.circuit && new Circuit(options.circuit)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        if (circuit?.isOpen === true) {
          Metrics.add(Metrics.openCircuits(Spans.serverAddress(tenant)), -1, Metrics.noLabels)
        }
      })
    )
    return { budget: retryBudget === Infinity ? undefined : new RetryBudget(retryBudget), circuit }
  })

/** Says what a failure means, whichever error of this library it is: the only place that does. */
import * as Predicate from "effect/Predicate"

/** The fields of a failure that programs may read. */
interface Failure {
  readonly _tag: string
  readonly code?: string
  readonly status?: number
}

/** Names a failure in a log line: by its tag, and its status or code. Its message may hold text of the service. */
export const failureName = ({ _tag, code, status }: Failure): string => {
  const detail = status === undefined ? code : `status ${status}`
  return detail === undefined ? _tag : `${_tag} (${detail})`
}

/** The code of an attempt or a token request of a client that was closed. */
const closedCode = "CLOSED"

/** The code of an attempt whose claim failed: it was not written down that it is sent. */
export const unclaimedCode = "UNCLAIMED"

/** The code of a request whose own body failed: its stream, which is the caller's. */
export const bodyFailed = "REQUEST_BODY"

/** The answers to the three questions that `Errors` asks about a failure. */
type Verdict = readonly [
  outcome: "done" | "not-done" | "unknown",
  isTransient: boolean,
  concerns: "call" | "client" | "service"
]

/** The fields of any error. */
type Fields = Readonly<Record<string, unknown>>

/** Checks that a status says that the service is unavailable, or was too slow. */
export const isTemporaryStatus = (status: number): boolean => status === 408 || status >= 500

/** The answers about an attempt without a response. */
export const transportVerdict = (
  { code, outcome }: { readonly code?: unknown; readonly outcome?: unknown }
): Verdict => {
  const known = outcome === "not-sent" ? "not-done" : outcome === "done" ? "done" : "unknown"
  if (code === closedCode) return [known, false, "client"]
  if (code === bodyFailed) return [known, false, "call"]
  // Its time was up before it was sent, for example while it waited for one of the client's connections.
  const isLate = code === "TIMEOUT" && known === "not-done"
  return [known, known !== "done", isLate || code === unclaimedCode ? "client" : "service"]
}

const statusVerdict = (status: number): Verdict => {
  if (isTemporaryStatus(status)) return ["unknown", true, "service"]
  if (status === 429) return ["not-done", true, "service"]
  if ([401, 402, 403, 407].includes(status)) return ["not-done", false, "client"]
  if (status === 304 || status >= 400) return ["not-done", false, "call"]
  return ["unknown", false, "service"]
}

/** The answers about a failed request for a token. */
export const tokenVerdict = ({ code, status }: Fields): Verdict => {
  const isTemporary = code === undefined ? statusVerdict(Number(status))[1] : code !== closedCode
  return ["not-done", isTemporary, isTemporary ? "service" : "client"]
}

const responseVerdict = ({ outcome, reason, status }: Fields): Verdict => {
  const verdict = (): Verdict => {
    switch (reason) {
      case "status":
        return statusVerdict(Number(status))
      case "schema":
      case "size":
        return ["unknown", false, "call"]
      case "endless":
      case "incomplete":
        return ["not-done", false, "call"]
      default: // a redirect, a web page, or a body that is damaged: something else responds in the service's place
        return ["unknown", false, "service"]
    }
  }
  const [byStatus, isTransient, concerns] = verdict()
  return [outcome === "done" || outcome === "not-done" ? outcome : byStatus, isTransient, concerns]
}

/** Failures of the storage that has the file of an export. */
const storageReasons: ReadonlyArray<unknown> = ["network", "status", "refused", "length", "changed", "truncated"]

const exportVerdict = ({ job, reason }: Fields): Verdict => {
  if (reason === "job-failed" || reason === "not-an-export") return ["not-done", false, "call"]
  const isBefore = reason === "exists" || reason === "other-export"
  const outcome = job !== undefined ? "done" : isBefore ? "not-done" : "unknown"
  if (storageReasons.includes(reason)) return [outcome, true, "service"]
  return [outcome, reason === "timeout", reason === "unsupported" ? "client" : "call"]
}

const journalVerdict = ({ reason }: Fields): Verdict =>
  reason === "foreign" ? refused : ["unknown", true, reason === "store" ? "client" : "call"]

/** What a run has left out was not done, so the same ids may be run again. */
const runVerdict = ({ reason }: Fields): Verdict =>
  reason === "unavailable"
    ? ["not-done", true, "service"]
    : ["not-done", false, reason === "refused" ? "client" : "call"]

const refused: Verdict = ["not-done", false, "call"]
const storeFailed: Verdict = ["unknown", true, "client"]

/** All errors but those of a status. */
const verdicts: Readonly<Record<string, Verdict | ((error: Fields) => Verdict)>> = {
  InvalidInput: refused,
  TokenError: tokenVerdict,
  TransportError: transportVerdict,
  UnexpectedResponse: responseVerdict,
  UndecodableItem: refused,
  VersionNotFound: refused,
  DeploymentFailed: ({ reason }) => ["done", reason === "timeout", "call"],
  ExportError: exportVerdict,
  UndecodableRow: ["done", false, "call"],
  RunError: runVerdict,
  JournalError: journalVerdict,
  JobNotFound: refused,
  JobConflict: refused,
  JobTimeout: ["unknown", true, "call"],
  RowsUnavailable: refused,
  JobStoreError: storeFailed,
  TenantFailure: ({ error }) => ["not-done", isTransient(error), "client"],
  StoreUnavailable: storeFailed
}

const verdictOf = (error: unknown): Verdict => {
  if (!Predicate.isReadonlyRecord(error)) return ["unknown", false, "call"]
  const { _tag: tag, status } = error
  const verdict = typeof tag === "string" && Object.hasOwn(verdicts, tag) ? verdicts[tag] : undefined
  if (verdict !== undefined) return typeof verdict === "function" ? verdict(error) : verdict
  return typeof status === "number" ? statusVerdict(status) : ["unknown", false, "call"]
}

/**
 * Returns whether the service carried the call out. Use it to decide whether a call that must not happen twice may be made again.
 *
 * - `done`: it did, and only its result is missing. Another call would do it again.
 * - `not-done`: it definitely did not. Of an idempotent call, an attempt before the last may have been carried out.
 * - `unknown`: it may have. Look before you call again.
 *
 * An error that is not of this library, and has no HTTP `status`, is `unknown`.
 *
 * @since 0.1.0
 * @category getters
 * @example
 * ```ts
 * Effect.retry(redeliverEvent({ id, event_id }), { times: 3, while: (error) => Errors.outcome(error) === "not-done" })
 * ```
 */
export const outcome = (error: unknown): "done" | "not-done" | "unknown" => verdictOf(error)[0]

/**
 * Checks that the same call may succeed later, though nobody changes anything: the service is unavailable, a limit is used up, a connection
 * broke. Whether it is safe to repeat a call that is not idempotent, `outcome` says.
 *
 * @since 0.1.0
 * @category predicates
 * @example
 * ```ts
 * Effect.retry(listActionVersions({ actionId }), { schedule: Schedule.spaced("1 minute"), while: Errors.isTransient })
 * ```
 */
export const isTransient = (error: unknown): boolean => verdictOf(error)[1]

/**
 * Returns whom a failure concerns. Use it to decide whether to go on with other calls.
 *
 * - `call`: this call alone. Others may succeed.
 * - `client`: this program: its credentials, scopes, configuration or storage. Its other calls are likely to fail, too.
 * - `service`: the service as a whole: it is unavailable, refuses calls for now, or something else responds in its place.
 *
 * @since 0.1.0
 * @category getters
 * @example
 * ```ts
 * Effect.catchIf(call, (error) => Errors.concerns(error) === "call", (error) => Effect.logWarning(error.message))
 * ```
 */
export const concerns = (error: unknown): "call" | "client" | "service" => verdictOf(error)[2]

/** Checks that a call may succeed after a wait: the failure passes, or concerns the whole service, which somebody will mend. */
export const passesWithTime = (error: unknown): boolean => isTransient(error) || concerns(error) === "service"

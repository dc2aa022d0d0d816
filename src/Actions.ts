/** Versions of actions: finds and compares them, and rolls an action back to an earlier one. */
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { isTransient } from "./Errors.js"
import type { IdentityClient } from "./IdentityClient.js"
import { isBackgroundWork } from "./internal/limiter/limiter.js"
import { withoutFailureLogs, withSetting } from "./internal/runtime/fiber.js"
import type * as Operation from "./Operation.js"
import { deployActionVersion } from "./operations/deployActionVersion.js"
import { getAction } from "./operations/getAction.js"
import { getActionVersion } from "./operations/getActionVersion.js"
import { type ActionVersion, listActionVersions } from "./operations/listActionVersions.js"
import * as Pagination from "./Pagination.js"

/** The action has no version of this number. @since 0.1.0 @category errors */
export class VersionNotFound extends Data.TaggedError("VersionNotFound")<{
  readonly actionId: string
  readonly number: number
  readonly message: string
}> {
  constructor(props: { readonly actionId: string; readonly number: number }) {
    super({ ...props, message: `this action has no version ${props.number}` })
  }
}

const deploymentProblems = {
  failed: "could not be built",
  superseded: "was deployed, but a later version is live",
  timeout: "is deployed, but was not live in time"
}

interface FailedDeployment {
  readonly actionId: string
  readonly reason: "failed" | "superseded" | "timeout"
  /** The version that was deployed. */
  readonly version: ActionVersion
  /** The messages of the build; after a `timeout` the message of the last look at the action, if it failed. */
  readonly details: ReadonlyArray<string>
}

/**
 * A version was deployed, but did not become live: its build `failed`, it is `superseded` by a later version that is live, or it was
 * not live at the `timeout`, after which it still may become so.
 * @since 0.1.0 @category errors
 */
export class DeploymentFailed extends Data.TaggedError("DeploymentFailed")<
  FailedDeployment & { readonly message: string }
> {
  constructor(props: FailedDeployment) {
    const { details, reason, version: { number = "?" } } = props
    super({ ...props, message: [`version ${number} ${deploymentProblems[reason]}`, ...details].join(": ") })
  }
}

/** A difference between two versions. `before` and `after` are texts of lines. @since 0.1.0 @category models */
export interface Change {
  readonly part: "code" | "dependencies" | "secrets"
  readonly before: string
  readonly after: string
}

const partsOf = ({ code = "", dependencies = [], secrets = [] }: ActionVersion) => ({
  code,
  dependencies: dependencies.map(({ name, registry_url, version }) =>
    `${name}@${version}${registry_url === undefined ? "" : ` from ${registry_url}`}\n`
  ).sort().join(""),
  secrets: secrets.map(({ name, updated_at }) => `${name} of ${updated_at}\n`).sort().join("")
})

/**
 * Compares code, dependencies and secrets (names and times; the service gives no values). Dependencies and secrets are sorted, one
 * on a line, so that any tool for texts can show the difference. Parts that are the same are left out.
 * @since 0.1.0 @category getters
 */
export const changes = (before: ActionVersion, after: ActionVersion): ReadonlyArray<Change> => {
  const [old, now] = [partsOf(before), partsOf(after)]
  return (["code", "dependencies", "secrets"] as const).flatMap((part) =>
    old[part] === now[part] ? [] : [{ part, before: old[part], after: now[part] }]
  )
}

type ListFailure = Operation.Failure<typeof listActionVersions>

/** Streams all versions of an action, as the service lists them: the newest first. @since 0.1.0 @category streams */
export const versions = (actionId: string): Stream.Stream<ActionVersion, ListFailure, IdentityClient> =>
  Pagination.stream(listActionVersions, { actionId, per_page: 50 })

/**
 * Finds versions by their numbers, and the one that is `deployed`. Requests at most one page after the last of them, because
 * pages are requested ahead.
 * @since 0.1.0 @category getters
 */
export const find = (actionId: string, numbers: ReadonlyArray<number>): Effect.Effect<
  { readonly found: ReadonlyMap<number, ActionVersion>; readonly deployed: ActionVersion | undefined },
  ListFailure,
  IdentityClient
> =>
  Effect.suspend(() => {
    const found = new Map<number, ActionVersion>()
    let deployed: ActionVersion | undefined
    const keep = (version: ActionVersion) => {
      if (version.number !== undefined && numbers.includes(version.number)) found.set(version.number, version)
      if (version.deployed === true) deployed = version
      return deployed !== undefined && numbers.every((number) => found.has(number))
    }
    return versions(actionId).pipe(
      Stream.takeUntil(keep),
      Stream.runDrain,
      withoutFailureLogs,
      Effect.map(() => ({ found, deployed }))
    )
  })

/** The end of a rollback. @since 0.1.0 @category models */
export interface Rollback {
  /** `live`: deployed and live; `unchanged`: the version was live before; `declined`: `confirm` gave false. */
  readonly outcome: "live" | "unchanged" | "declined"
  /** The version that is live, which the service has made of the wanted one; otherwise the wanted one. */
  readonly version: ActionVersion
}

/** The options of a rollback. @since 0.1.0 @category models */
export interface RollbackOptions<E = never, R = never> {
  /**
   * Called with the version that is deployed, if any, and the wanted one, before anything is changed; false ends the rollback
   * (default: goes on).
   */
  readonly confirm?:
    | ((before: ActionVersion | undefined, after: ActionVersion) => Effect.Effect<boolean, E, R>)
    | undefined
  /** Called with the new version once the service has accepted it, before the wait. */
  readonly onDeployed?: ((version: ActionVersion) => Effect.Effect<void>) | undefined
  /** The time to wait until the version is live (default 2 minutes). */
  readonly timeout?: Duration.DurationInput | undefined
}

const isSame = (version: ActionVersion, other: ActionVersion): boolean =>
  version.id !== undefined
    ? version.id === other.id
    : version.number !== undefined
    ? version.number === other.number
    : version.code === other.code

/** A deployment that `rollback` waits for. */
interface Deployment {
  readonly actionId: string
  readonly version: ActionVersion
  /** The version that was live before. */
  readonly before: ActionVersion | undefined
}

/** Checks that a version was deployed after the awaited one: versions are numbered in the order of their deployments. */
const isLater = (live: ActionVersion, { before, version }: Deployment): boolean =>
  live.number !== undefined && version.number !== undefined && live.number > version.number &&
  (before === undefined || !isSame(live, before))

/** Checks whether a version is live. Fails if its build has, or if a later one is live. */
const isLive = (deployment: Deployment) =>
  Effect.gen(function*() {
    const { actionId, version } = deployment
    const { deployed_version: live } = yield* getAction({ id: actionId })
    if (live !== undefined && isSame(version, live)) return true
    if (live !== undefined && isLater(live, deployment)) {
      return yield* new DeploymentFailed({ actionId, reason: "superseded", version, details: [] })
    }
    if (version.id === undefined) return false
    const { errors = [], status } = yield* getActionVersion({ actionId, id: version.id })
    const details = errors.flatMap(({ msg }) => msg ?? [])
    return status === "failed" ? yield* new DeploymentFailed({ actionId, reason: "failed", version, details }) : false
  })

/**
 * Polls after half a second, then ever later, up to every 5 s. Endures failures of the connection, of the limit and of the service,
 * because the deployment goes on meanwhile.
 */
const awaitLive = (deployment: Deployment, timeout: Duration.DurationInput) =>
  Effect.suspend(() => {
    let details: ReadonlyArray<string> = []
    const look = isLive(deployment).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          details = []
        })
      ),
      Effect.catchIf(isTransient, ({ message }) =>
        Effect.sync(() => {
          details = [message]
          return false
        })),
      // Looks are cheap for others: they leave the limiter's reserve alone.
      (look) => withSetting(look, isBackgroundWork, () => true)
    )
    const poll = (millis: number): typeof look =>
      Effect.flatMap(
        look,
        (live) =>
          live ? Effect.succeed(live) : Effect.delay(poll(Math.min(5000, millis * 1.5)), Duration.millis(millis))
      )
    const { actionId, version } = deployment
    return Effect.timeoutFail(poll(500), {
      duration: timeout,
      onTimeout: () => new DeploymentFailed({ actionId, reason: "timeout", version, details })
    })
  })

/**
 * Rolls an action back to an earlier version: deploys it and waits until it is live, which takes the service some seconds.
 *
 * The service makes a new version of it, with a new number. Nothing is changed if the version is live already. Fails with
 * `VersionNotFound` if the action has no such version, with `DeploymentFailed` if the new version does not become live, and like
 * `listActionVersions`, `deployActionVersion`, `getAction`, `getActionVersion` and `confirm`. The wait endures failed connections,
 * limited calls and an unavailable service until the time-out. Interruption ends the wait, not the deployment. The deployment is not
 * idempotent: after a failure of outcome `unknown` or `done`, look at `versions` first.
 * @since 0.1.0 @category constructors @example `Actions.rollback(actionId, 3)`
 */
export const rollback = <E = never, R = never>(
  actionId: string,
  number: number,
  options: RollbackOptions<E, R> = {}
): Effect.Effect<
  Rollback,
  | E
  | VersionNotFound
  | DeploymentFailed
  | ListFailure
  | Operation.Failure<typeof deployActionVersion>
  | Operation.Failure<typeof getAction>
  | Operation.Failure<typeof getActionVersion>,
  R | IdentityClient
> =>
  Effect.gen(function*() {
    const { confirm = () => Effect.succeed(true), onDeployed = () => Effect.void, timeout = "2 minutes" } = options
    const { deployed, found } = yield* find(actionId, [number])
    const wanted = found.get(number)
    if (wanted?.id === undefined) return yield* new VersionNotFound({ actionId, number })
    if (wanted.deployed === true) return { outcome: "unchanged", version: wanted }
    if (!(yield* confirm(deployed, wanted))) return { outcome: "declined", version: wanted }
    const version = yield* deployActionVersion({ actionId, id: wanted.id })
    yield* onDeployed(version)
    yield* awaitLive({ actionId, version, before: deployed }, timeout)
    return { outcome: "live", version }
  })

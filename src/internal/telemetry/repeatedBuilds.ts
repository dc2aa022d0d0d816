/** Warns a program that builds a client for each call, which loses token, learned limits and connections each time. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { hostOf } from "../http/baseUrl.js"
import { globalValue } from "../runtime/memoize.js"

/** This many builds of one tenant's client within this time, in milliseconds, are worth a warning. */
const [mostBuilds, period] = [50, 60_000]

/** The builds of this process, by tenant, since a time in milliseconds. */
const builds = globalValue("effect-identity-client/internal/telemetry/repeatedBuilds", () => ({
  byTenant: new Map<string, { readonly since: number; readonly count: number }>(),
  hasWarned: false
}))

/** Not the fiber's clock: each test with a `TestClock` begins at the same time. */
const realClock = /* @__PURE__ */ Clock.make()

/** Counts the build of a tenant's client. Warns once in a process. */
export const count = (tenant: string, clock: Clock.Clock = realClock): Effect.Effect<void> =>
  Effect.suspend(() => {
    const now = clock.unsafeCurrentTimeMillis()
    const last = builds.byTenant.get(tenant) ?? { since: now, count: 0 }
    const { count, since } = Math.abs(now - last.since) < period ? last : { since: now, count: 0 }
    if (builds.byTenant.size >= 100) builds.byTenant.clear() // bounds the memory of a program with many tenants
    builds.byTenant.set(tenant, { since, count: count + 1 })
    if (builds.hasWarned || count + 1 < mostBuilds) return Effect.void
    builds.hasWarned = true
    return Effect.logWarning(
      `the client of ${
        hostOf(tenant)
      } was built ${mostBuilds} times within a minute; build its layer once: token, limits and connections are lost each time`
    )
  })

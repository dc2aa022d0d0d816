/** Failures: each has a type, and those that pass are retried. */
import { Duration, Effect, Logger, LogLevel } from "effect"
import {
  createUsersExport,
  deleteEventStream,
  RateLimiter,
  redeliverEvent,
  updateTokenExchangeProfile
} from "effect-identity-client"
import * as Tenant from "effect-identity-client/Tenant"
import { clientOf, failure, step, success } from "./step.js"

const { profiles: [profile], streams: [stream] } = Tenant.demo
const [event] = stream.events

// Step 2 has redelivered this event.
export const redeliverAgain = step(
  "4. Redeliver an event that is being delivered already",
  redeliverEvent({ id: stream.id, event_id: event.id }).pipe(
    Effect.catchTag("Conflict", ({ message }) => failure(`409: ${message}`))
  )
)

// This client lacks the scope.
export const withoutScope = step(
  "5. Export users with a token that may only read actions",
  createUsersExport({}).pipe(
    Effect.provide(clientOf(Tenant.demoClients.readsActions)),
    Effect.catchTag(
      "InsufficientScope",
      ({ required }) => failure(`InsufficientScope (403): grant ${required.join(", ")}`)
    )
  )
)

// Another client uses up the rate limit. Its own warnings are not shown.
const rename = (name: string) => updateTokenExchangeProfile({ id: profile.id, name })

export const throttled = step(
  "6. Rename a profile while another client uses up the rate limit",
  Effect.gen(function*() {
    yield* Effect.forEach([1, 2, 3, 4, 5], (n) => rename(`Draft ${n}`), { concurrency: "unbounded" }).pipe(
      Effect.provide(clientOf(Tenant.demoClients.full, RateLimiter.layerUnlimited)),
      Logger.withMinimumLogLevel(LogLevel.None)
    )
    const [waited, renamed] = yield* Effect.timed(rename("Exchanged tokens"))
    yield* success(`profile ${profile.id} is now "${renamed?.name}"`)
    yield* success(
      `the call was refused with 429, waited and was retried: ${Math.round(Duration.toMillis(waited))} ms`
    )
  })
)

// Deleting a stream again succeeds.
export const deleteTwice = step(
  "7. Delete an event stream, twice",
  Effect.repeatN(Effect.zipRight(deleteEventStream({ id: stream.id }), success(`stream ${stream.id} is gone`)), 1)
)

export const invalid = step(
  "8. Give an invalid input: nothing is sent",
  createUsersExport({ limit: 0, fields: [{ name: "e".repeat(101) }] }).pipe(
    Effect.catchTag(
      "InvalidInput",
      ({ issues }) => Effect.forEach(issues, ({ message, path }) => failure(`InvalidInput: ${path}: ${message}`))
    )
  )
)

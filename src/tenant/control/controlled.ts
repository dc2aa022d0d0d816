/** The parts of a tenant that the control interface reads and changes. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { Advance } from "../api/advance.js"
import type { ServedOperation } from "../api/routes.js"
import type { State } from "../api/state.js"
import type { Client, ClientWithoutSecret } from "../server/clientAuthentication.js"
import type { FaultQueue } from "../server/faults.js"
import type { RequestLog } from "../server/requestLog.js"
import type { TokenBucket } from "../server/tokenBucket.js"
import type { TokenIssuer } from "../server/tokens.js"
import type { MovableClock } from "./clock.js"
import type { BucketName } from "./http/schemas.js"
import type { Recorder } from "./recording/recorder.js"

export interface ControlledParts {
  readonly state: Ref.Ref<State>
  readonly advance: Advance
  /** The initial data, as if they were seeded now. */
  readonly seeded: Effect.Effect<State>
  readonly tokens: TokenIssuer
  readonly buckets: Readonly<Record<BucketName, TokenBucket>>
  readonly faults: FaultQueue
  readonly log: RequestLog
  readonly clients: ReadonlyArray<Client | ClientWithoutSecret>
  readonly served: ReadonlyArray<ServedOperation>
  /** The time that a delivery takes. */
  readonly deliveryMillis: number
}

export interface Controlled extends ControlledParts {
  readonly clock: MovableClock
  readonly recorder: Recorder
  /** Differs after each start. */
  readonly instance: string
  /** The tenant's time. */
  readonly now: Effect.Effect<number>
  /** The state now. */
  readonly advanced: Effect.Effect<State>
  /** Counts the changes after which the page begins anew. */
  readonly generation: { current: number }
}

export const make = (
  parts: ControlledParts,
  own: Pick<Controlled, "clock" | "recorder" | "instance">
): Controlled => {
  const now = own.clock.provide(Clock.currentTimeMillis)
  return {
    ...parts,
    ...own,
    now,
    advanced: Effect.zipWith(Ref.get(parts.state), now, parts.advance),
    generation: { current: 0 }
  }
}

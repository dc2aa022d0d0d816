/**
 * Claims: what must be written down before a request that must not be sent twice. A call carries its claim out once it has its
 * permit and its token, right before its first request. So a call that only waits leaves nothing behind when its process dies.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { makeSetting, settingOf, withFiber, withSetting } from "../runtime/fiber.js"
import { globalValue } from "../runtime/memoize.js"

/** The code of a `TransportError` of an attempt whose claim failed. `claimed` gives the claim's own failure in its place. */
export const unclaimedCode = "UNCLAIMED"

/** The claim of the call that runs; it gives false if nothing may be sent. */
export const currentClaim = /* @__PURE__ */ makeSetting(
  "call/claim",
  (): Effect.Effect<boolean> | undefined => undefined
)

/** The clients that carry claims out. A client that users made themselves may know nothing of them. */
const clients = globalValue("effect-identity-client/call/claimingClients", () => new WeakSet<object>())

export const carriesOutClaims = <Client extends object>(client: Client): Client => {
  clients.add(client)
  return client
}

/** `waiting`: nothing was written yet, and nothing sent. `claiming`: the claim is under way. `claimed`: the request may be sent. */
export type ClaimState = "waiting" | "claiming" | "claimed"

/** A call with a claim. */
export interface ClaimedCall<A, E> {
  /** Makes the call, at most once. If the claim fails, nothing is sent, and this fails like the claim. */
  readonly run: Effect.Effect<A, E>
  readonly state: () => ClaimState
}

/** Gives a call a claim. If the client does not carry claims out, the claim comes before the whole call. */
export const claimed = <A, E, E2>(
  client: object,
  call: Effect.Effect<A, E>,
  claim: Effect.Effect<void, E2>
): ClaimedCall<A, E | E2> => {
  let state: ClaimState = "waiting"
  let outcome: Exit.Exit<void, E2> | undefined
  /** Only the first attempt of the call claims. */
  const once = Effect.suspend(() => {
    if (outcome !== undefined) return Effect.succeed(Exit.isSuccess(outcome))
    state = "claiming"
    return Effect.map(Effect.exit(claim), (exit) => {
      outcome = exit
      if (Exit.isSuccess(exit)) state = "claimed"
      return Exit.isSuccess(exit)
    })
  })
  return {
    run: clients.has(client)
      ? Effect.catchAllCause(
        withSetting(call, currentClaim, () => once),
        (cause): Effect.Effect<never, E | E2> =>
          Effect.failCause<E | E2>(outcome !== undefined && Exit.isFailure(outcome) ? outcome.cause : cause)
      )
      : Effect.zipRight(Effect.flatMap(once, () => outcome ?? Effect.void), call),
    state: () => state
  }
}

/** Carries the claim of the call that runs out, and then the call; the calls in it have no claim. */
export const afterClaim = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  withFiber((fiber) => {
    const claim = settingOf(fiber, currentClaim)
    if (claim === undefined) return call
    const alone = withSetting(call, currentClaim, () => undefined)
    // Interrupted, because the failure of the claim takes its place.
    return Effect.flatMap(claim, (mayGoOn) => mayGoOn ? alone : Effect.interrupt)
  })

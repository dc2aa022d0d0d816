/** The control of a tenant: the interface below `/_tenant/`, what it records, and its clock. Loaded only if it is asked for. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { AllowedHosts } from "../server/allowedHosts.js"
import { randomId } from "../server/randomId.js"
import type * as Router from "../server/router.js"
import * as Clock from "./clock.js"
import * as Controlled from "./controlled.js"
import * as Access from "./http/access.js"
import type { Observer } from "./observer.js"
import * as Recorder from "./recording/recorder.js"

export interface Control {
  readonly key: Redacted.Redacted<string>
  readonly observer: Observer
  /** Runs an effect by the tenant's clock, which may have been moved. */
  readonly provideClock: Clock.MovableClock["provide"]
  /** Serves the control interface beside the tenant, which runs by its clock. */
  readonly beside: (app: Router.App) => Router.App
}

const isControl = ({ originalUrl }: HttpServerRequest.HttpServerRequest): boolean =>
  /^(?:https?:\/\/[^/?#]*)?\/_tenant(?:[/?]|$)/.test(originalUrl)

/** Makes the control. Its key must be one that is hard to guess (`keyPattern`). */
export const make = (
  parts: Controlled.ControlledParts,
  key: Redacted.Redacted<string> | undefined,
  allowedHosts: AllowedHosts
): Effect.Effect<Control> =>
  Effect.gen(function*() {
    const clock = Clock.make()
    const secrets = parts.clients.flatMap(({ secret }) => secret === undefined ? [] : [Redacted.value(secret)])
    const recorder = Recorder.make(secrets.filter((secret) => secret !== ""), parts.buckets)
    const chosen = key ?? (yield* Access.makeKey)
    const controlled = Controlled.make(parts, { clock, recorder, instance: yield* randomId(16) })
    let routed: Router.App | undefined
    // Loaded with the first request, so a tenant starts without its schemas.
    const load = Effect.flatMap(
      Effect.promise(() => import("./http/routes.js")),
      (Routes) => Routes.make(controlled, chosen, allowedHosts)
    )
    const control = Effect.suspend(() => routed ?? Effect.flatMap(load, (app) => routed = app))
    return {
      key: chosen,
      observer: recorder,
      provideClock: clock.provide,
      beside: (app) => {
        const tenant = clock.provide(app)
        return Effect.flatMap(
          HttpServerRequest.HttpServerRequest,
          (request) => isControl(request) ? control : tenant
        )
      }
    }
  })

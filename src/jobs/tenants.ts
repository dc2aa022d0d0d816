/** The clients of the tenants that jobs are for. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LayerMap from "effect/LayerMap"
import type * as Scope from "effect/Scope"
import { IdentityClient } from "../IdentityClient.js"

/** There is no client for a tenant: the layer of it has failed with this error. @since 0.1.0 @category errors */
export class TenantFailure extends Data.TaggedError("TenantFailure")<{ readonly error: unknown }> {}

/** Knows the clients of the tenants by their names. @since 0.1.0 @category tags */
export class Tenants extends Context.Tag("effect-identity-client/Jobs/Tenants")<Tenants, {
  /** Returns the client of a tenant, for as long as the scope is open. */
  readonly client: (
    tenant: string
  ) => Effect.Effect<Context.Tag.Service<IdentityClient>, TenantFailure, Scope.Scope>
}>() {}

/**
 * Makes the clients of tenants by the layer of each. A client is made when a job needs it, shared by all jobs of the tenant in this
 * process, and closed after 5 min without a job. If its layer fails, its jobs fail; a `resume` builds it again. A layer that several
 * clients share is built once; if it has failed, each client builds its own.
 * @since 0.1.0 @category layers @example `Jobs.layerTenants((tenant) => clientOf(settings[tenant]))`
 */
export const layerTenants = <E, R>(
  layerOf: (tenant: string) => Layer.Layer<IdentityClient, E, R>
): Layer.Layer<Tenants, never, R> =>
  Layer.scoped(
    Tenants,
    Effect.gen(function*() {
      let hasFailed = false
      /** Effect remembers the failure of a layer, and the interruption of its build. After either, it is built anew. */
      const build = (tenant: string) => {
        const layer = layerOf(tenant)
        return Layer.catchAllCause(layer, (cause) => {
          const mayBeRemembered = hasFailed || Cause.isInterruptedOnly(cause)
          hasFailed = true
          return mayBeRemembered ? Layer.fresh(layer) : Layer.effect(IdentityClient, Effect.failCause(cause))
        })
      }
      const clients = yield* LayerMap.make(build, { idleTimeToLive: Duration.minutes(5) })
      return {
        client: (tenant) =>
          // Not by its layer, whose logger and other settings would hold for the jobs, too.
          clients.runtime(tenant).pipe(
            Effect.map(({ context }) => Context.get(context, IdentityClient)),
            // The next job tries again, also if the layer has failed with a defect.
            Effect.tapErrorCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : clients.invalidate(tenant)),
            Effect.mapError((error) => new TenantFailure({ error }))
          )
      }
    })
  )

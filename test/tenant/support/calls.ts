/** Calls of the demo tenant in process, as the tests of the tenant send them. */
import type * as HttpClient from "@effect/platform/HttpClient"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Tenant from "../../../src/Tenant.js"
export { waitForSleep } from "../../support/sleeps.js"
export * from "./requests.js"

/** A test with a new tenant in process. */
export const itInProcess = (
  name: string,
  run: () => Effect.Effect<unknown, unknown, HttpClient.HttpClient | Tenant.Tenant>,
  options: Tenant.Options = {}
) => it.effect(name, () => Effect.provide(run(), Layer.provideMerge(Tenant.layerHttpClient, Tenant.layerWith(options))))

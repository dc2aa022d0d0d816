/** Routes requests to their handlers, which never fail: the only module of the tenant that builds a router. */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as Effect from "effect/Effect"

/** An application: the response to each request. */
export type App = HttpApp.Default

/** The paths that a router treats as the same. */
export type Matching = Parameters<typeof HttpRouter.setRouterConfig>[0]

/** Makes an application of routes. HEAD is served by the routes of GET; all that no route is for gets `notFound`. */
export const make = (
  routes: ReadonlyArray<HttpRouter.Route<never, never>>,
  notFound: App,
  matching: Matching = {}
): Effect.Effect<App> =>
  Effect.map(
    HttpRouter.withRouterConfig(HttpRouter.toHttpApp(HttpRouter.fromIterable(routes)), matching),
    Effect.catchTag("RouteNotFound", () => notFound)
  )

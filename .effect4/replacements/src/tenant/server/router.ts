/** Routes requests to their handlers, which never fail: the only module of the tenant that builds a router. */
import * as Effect from "effect/Effect"
import type * as FindMyWay from "effect/http/FindMyWay"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"

/** An application: the response to each request. */
export type App = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** The paths that a router treats as the same. */
export type Matching = Partial<FindMyWay.RouterConfig>

/** Makes an application of routes. HEAD is served by the routes of GET; all that no route is for gets `notFound`. */
export const make = (
  routes: ReadonlyArray<HttpRouter.Route<never, never>>,
  notFound: App,
  matching: Matching = {}
): Effect.Effect<App> =>
  Effect.gen(function*() {
    const router = yield* HttpRouter.make
    yield* router.addAll(routes)
    // The handlers never fail: only the router does, where there is no route.
    return Effect.scoped(Effect.catch(router.asHttpEffect(), () => notFound))
  }).pipe(Effect.provideService(HttpRouter.RouterConfig, matching))

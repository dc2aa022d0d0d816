/** A script of one call over `fetch`. It imports subpaths, as the README recommends for esbuild. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as IdentityClient from "../../../src/IdentityClient.js"
import { listActionVersions } from "../../../src/index.js"
import * as RateLimiter from "../../../src/RateLimiter.js"
import * as TokenProvider from "../../../src/TokenProvider.js"

const [, , origin = "", actionId = ""] = process.argv

const client = IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(TokenProvider.layerBearer(Redacted.make("a-token"))),
  Layer.provide(FetchHttpClient.layer)
)

const { total } = await Effect.runPromise(Effect.provide(listActionVersions({ actionId }), client))
console.log(total)

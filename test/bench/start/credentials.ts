/** A whole program over `fetch`: one operation, with client credentials and the limiter that learns. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as IdentityClient from "../../../src/IdentityClient.js"
import { listActionVersions } from "../../../src/index.js"
import * as RateLimiter from "../../../src/RateLimiter.js"
import * as TokenProvider from "../../../src/TokenProvider.js"

const [, , authUrl = "", actionId = ""] = process.argv

const client = IdentityClient.layer({ baseUrl: `${authUrl}/api/v2` }).pipe(
  Layer.provide(RateLimiter.layer),
  Layer.provide(
    TokenProvider.layerClientCredentials({ authUrl, clientId: "a-client", clientSecret: Redacted.make("its secret") })
  ),
  Layer.provide(FetchHttpClient.layer)
)

const { total } = await Effect.runPromise(Effect.provide(listActionVersions({ actionId }), client))
console.log(total)

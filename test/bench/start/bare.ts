/** The same calls with an `HttpClient` and two schemas, without this package: the lower bound for every program on Effect. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const [, , authUrl = "", actionId = ""] = process.argv

const Grant = Schema.Struct({ access_token: Schema.String })
const Versions = Schema.Struct({ total: Schema.Number })

const program = Effect.gen(function*() {
  const client = yield* HttpClient.HttpClient
  const credentials = { grant_type: "client_credentials", client_id: "a-client", client_secret: "its secret" }
  const grant = yield* client.execute(
    HttpClientRequest.bodyUrlParams(HttpClientRequest.post(`${authUrl}/oauth/token`), credentials)
  )
  const { access_token } = yield* HttpClientResponse.schemaBodyJson(Grant)(grant)
  const versions = yield* client.execute(
    HttpClientRequest.bearerToken(
      HttpClientRequest.get(`${authUrl}/api/v2/actions/actions/${actionId}/versions`),
      access_token
    )
  )
  return yield* HttpClientResponse.schemaBodyJson(Versions)(versions)
})

const { total } = await Effect.runPromise(Effect.provide(program, FetchHttpClient.layer))
console.log(total)

/** Reads the endpoints of an `HttpApi`: the only module that knows how Effect keeps them. */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { PathInput } from "@effect/platform/HttpRouter"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"

type Part = Schema.Schema.AnyNoContext | undefined

export interface Endpoint {
  readonly name: string
  readonly method: HttpMethod
  /** `:name` stands for a parameter. */
  readonly path: PathInput
  readonly summary: string
  readonly description: string
  readonly params: Part
  readonly query: Part
  readonly body: Part
  readonly success: Schema.Schema.AnyNoContext
  /** The content type of the response. */
  readonly contentType: string
}

type Declared<Parts> = { readonly [Name in keyof Parts as [Parts[Name]] extends [never] ? never : Name]: Parts[Name] }

type Exchange<Endpoint extends HttpApiEndpoint.HttpApiEndpoint.Any> = {
  readonly input: Declared<{
    readonly params: HttpApiEndpoint.HttpApiEndpoint.PathParsed<Endpoint>
    readonly query: HttpApiEndpoint.HttpApiEndpoint.UrlParams<Endpoint>
    readonly body: HttpApiEndpoint.HttpApiEndpoint.Payload<Endpoint>
  }>
  readonly response: HttpApiEndpoint.HttpApiEndpoint.Success<Endpoint>
}

/** The input and the response of each endpoint of a group, by its name. */
export type ExchangesOf<Group extends HttpApiGroup.HttpApiGroup.Any> = {
  readonly [Endpoint in HttpApiGroup.HttpApiGroup.Endpoints<Group> as Endpoint["name"]]: Exchange<Endpoint>
}

/** The endpoints of all groups. */
export const endpointsOf = <Groups extends HttpApiGroup.HttpApiGroup.Any, Error, R>(
  api: HttpApi.HttpApi<string, Groups, Error, R>
): ReadonlyArray<Endpoint> => {
  const endpoints: Array<Endpoint> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) =>
      endpoints.push({
        name: endpoint.name,
        method: endpoint.method,
        path: endpoint.path,
        summary: Context.unsafeGet(endpoint.annotations, OpenApi.Summary),
        description: Context.unsafeGet(endpoint.annotations, OpenApi.Description),
        // Sound: the group requires no context.
        params: Option.getOrUndefined(endpoint.pathSchema) as Part,
        query: Option.getOrUndefined(endpoint.urlParamsSchema) as Part,
        body: Option.getOrUndefined(endpoint.payloadSchema) as Part,
        success: endpoint.successSchema as Schema.Schema.AnyNoContext,
        contentType: HttpApiSchema.getEncoding(endpoint.successSchema.ast).contentType
      })
  })
  return endpoints
}

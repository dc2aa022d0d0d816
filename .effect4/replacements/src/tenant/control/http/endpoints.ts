/** Reads the endpoints of an `HttpApi`: the only module that knows how Effect keeps them. */
import * as Context from "effect/Context"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import type { HttpMethod } from "effect/http/HttpMethod"
import type { PathInput } from "effect/http/HttpRouter"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

type Part = Schema.Codec<unknown> | undefined

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
  readonly success: Schema.Codec<unknown>
  /** The content type of the response. */
  readonly contentType: string
}

type TypeOf<Part> = [Part] extends [never] ? never : Part extends Schema.Top ? Part["Type"] : never

type Declared<Parts> = { readonly [Name in keyof Parts as [Parts[Name]] extends [never] ? never : Name]: Parts[Name] }

type Exchange<Endpoint> = {
  readonly input: Declared<{
    readonly params: TypeOf<HttpApiEndpoint.Params<Endpoint>>
    readonly query: TypeOf<HttpApiEndpoint.Query<Endpoint>>
    readonly body: TypeOf<HttpApiEndpoint.Payload<Endpoint>>
  }>
  readonly response: TypeOf<HttpApiEndpoint.Success<Endpoint>>
}

/** The input and the response of each endpoint of a group, by its name. */
export type ExchangesOf<Group extends HttpApiGroup.Constraint> = {
  readonly [Endpoint in HttpApiGroup.Endpoints<Group> as HttpApiEndpoint.Identifier<Endpoint>]: Exchange<Endpoint>
}

const encodingOf = SchemaAST.resolveAt<{ readonly contentType: string }>("~httpApiEncoding")

/** The endpoints of all groups. */
export const endpointsOf = <Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<string, Groups>
): ReadonlyArray<Endpoint> => {
  const endpoints: Array<Endpoint> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      const [success] = endpoint.success
      if (success === undefined) throw new Error(`${endpoint.identifier} has no response`)
      endpoints.push({
        name: endpoint.identifier,
        method: endpoint.method,
        path: endpoint.path as PathInput, // sound: an endpoint is made of no other
        summary: Context.getUnsafe(endpoint.annotations, OpenApi.Summary),
        description: Context.getUnsafe(endpoint.annotations, OpenApi.Description),
        // Sound: the group requires no services.
        params: endpoint.params as Part,
        query: endpoint.query as Part,
        body: endpoint.payload.get("application/json")?.schemas[0] as Part,
        success: success as Schema.Codec<unknown>,
        contentType: encodingOf(success.ast)?.contentType ?? "application/json"
      })
    }
  })
  return endpoints
}

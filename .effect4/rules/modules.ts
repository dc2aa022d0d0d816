/** Where modules of Effect 3's packages lie in Effect 4. */
import { rules } from "../convert/rules.js"

const moved = (from: string, to: string, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [`${from}/${name}`, `${to}/${name}`]))

export default rules({
  modules: {
    "effect/Either": "effect/Result",
    "effect/FastCheck": "fast-check",
    "effect/JSONSchema": "effect/JsonSchema",
    "effect/Mailbox": "effect/Queue",
    "effect/TestClock": "effect/testing/TestClock",

    ...moved("@effect/platform", "effect", ["FileSystem", "Path", "Runtime", "Terminal"]),
    "@effect/platform/Error": "effect/PlatformError",
    "@effect/platform/HttpApp": "effect/http/HttpEffect",
    "@effect/platform/KeyValueStore": "effect/persistence/KeyValueStore",
    "@effect/platform/HttpLayerRouter": "effect/http/HttpRouter",
    ...moved("@effect/platform", "effect/http-api", [
      "HttpApi",
      "HttpApiEndpoint",
      "HttpApiGroup",
      "HttpApiSchema",
      "HttpApiSwagger",
      "OpenApi"
    ]),
    ...moved("@effect/platform", "effect/http", [
      "FetchHttpClient",
      "Headers",
      "HttpBody",
      "HttpClient",
      "HttpClientError",
      "HttpClientRequest",
      "HttpClientResponse",
      "HttpIncomingMessage",
      "HttpMethod",
      "HttpMiddleware",
      "HttpPlatform",
      "HttpRouter",
      "HttpServer",
      "HttpServerError",
      "HttpServerRequest",
      "HttpServerResponse",
      "HttpTraceContext",
      "UrlParams"
    ]),
    "@effect/platform-node/NodeContext": "@effect/platform-node/NodeServices",
    "@effect/platform-node/Undici": "undici",

    "@effect/cli/Args": "effect/cli/Argument",
    "@effect/cli/Command": "effect/cli/Command",
    "@effect/cli/HelpDoc": "effect/cli/HelpDoc",
    "@effect/cli/Options": "effect/cli/Flag",
    "@effect/cli/ValidationError": "effect/cli/CliError",
    ...moved("@effect/cluster", "effect/cluster", [
      "ClusterWorkflowEngine",
      "EntityAddress",
      "EntityId",
      "EntityType",
      "MessageStorage",
      "RunnerAddress",
      "Sharding",
      "ShardingConfig",
      "Singleton",
      "SqlMessageStorage",
      "SqlRunnerStorage",
      "TestRunner"
    ]),
    "@effect/opentelemetry/Otlp": "effect/observability/Otlp",
    ...moved("@effect/sql", "effect/sql", ["Migrator", "SqlClient", "SqlConnection", "SqlError", "Statement"]),
    ...moved("@effect/workflow", "effect/workflow", [
      "Activity",
      "DurableClock",
      "DurableDeferred",
      "Workflow",
      "WorkflowEngine"
    ])
  }
})

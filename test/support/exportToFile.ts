/** Exports users into a file, and prints how that ended. Tests bundle this program and kill it. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Redacted from "effect/Redacted"
import * as Exports from "../../src/Exports.js"
import { IdentityClient, RateLimiter, TokenProvider } from "../../src/index.js"
import * as Node from "../../src/Node.js"

const [, , origin = "", path = "", gzip = "", job = "", startAgain = ""] = process.argv

const http = Node.layerHttpClient

void Effect.runPromise(
  Exports.toFile(path, { format: "json" }, {
    gzip: gzip === "gzip",
    startAgain: startAgain !== "",
    ...(job !== "" && { job })
  }).pipe(
    Effect.match({
      onFailure: (error) => error._tag === "ExportError" ? error.reason : `${error._tag}: ${error.message}`,
      onSuccess: ({ rows }) => `done ${rows}`
    }),
    Effect.tap((line) => Effect.sync(() => process.stdout.write(`${line}\n`))),
    Effect.provide(
      IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
        Layer.provide([RateLimiter.layerUnlimited, TokenProvider.layerBearer(Redacted.make("token"))]),
        Layer.provideMerge(http)
      )
    ),
    Effect.provide(NodeFileSystem.layer),
    Logger.withMinimumLogLevel(LogLevel.None)
  )
)

/** `npm run openapi -- [file]`: writes the OpenAPI 3.1 document of the embedded tenant (default: `.docs/openapi.json`). */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import * as Tenant from "effect-identity-client/Tenant"

const file = process.argv[2] ?? ".docs/openapi.json"

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(path.dirname(file), { recursive: true })
  yield* fs.writeFileString(file, `${JSON.stringify(Tenant.openapi, null, 2)}\n`)
  yield* Console.log(file)
})

program.pipe(Effect.provide(NodeContext.layer), NodeRuntime.runMain)

/** Prints the live version of an action of your tenant: `npx tsx firstCall.ts ACTION_ID` */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { listActionVersions } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"

const program = Effect.gen(function*() {
  const { total = 0, versions } = yield* listActionVersions({ actionId: process.argv[2] ?? "" })
  yield* Console.log(`${total} versions, live: ${versions.find(({ deployed }) => deployed)?.number ?? "none"}`)
})

program.pipe(Effect.provide(Node.layerConfig), NodeRuntime.runMain)

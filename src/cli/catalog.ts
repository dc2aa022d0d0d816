/** The commands by name. Each is a file of its own, which is loaded only when it is needed. */
import * as Effect from "effect/Effect"
import type { Definition } from "./shared/definition.js"

interface Entry {
  readonly summary: string
  readonly load: Effect.Effect<Definition>
}

const entry = (summary: string, load: () => Promise<{ readonly definition: Definition }>): Entry => ({
  summary,
  load: Effect.map(Effect.promise(load), ({ definition }) => definition)
})

export const catalog: Readonly<Record<string, Entry>> = {
  export: entry("Exports users into a file", () => import("./commands/export.js")),
  versions: entry("Lists the versions of an action", () => import("./commands/versions.js")),
  diff: entry("Shows the changes between two versions of an action", () => import("./commands/diff.js")),
  rollback: entry(
    "Deploys an earlier version of an action, and waits until it is live",
    () => import("./commands/rollback.js")
  ),
  deliveries: entry("Lists the failed deliveries of an event stream", () => import("./commands/deliveries.js")),
  redeliver: entry("Redelivers failed events of a stream, each once", () => import("./commands/redeliver.js")),
  delete: entry("Deletes an event stream", () => import("./commands/delete.js")),
  update: entry("Changes a token exchange profile", () => import("./commands/update.js")),
  api: entry("Makes any call", () => import("./commands/api.js")),
  tenant: entry("Serves a tenant on this machine to try programs against", () => import("./commands/tenant.js")),
  generate: entry(
    "Writes a declaration for each operation of an OpenAPI document",
    () => import("./commands/generate.js")
  )
}

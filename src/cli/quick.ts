/** Runs a quick command in this process. */
import * as Delete from "./commands/delete.js"
import * as Deliveries from "./commands/deliveries.js"
import * as Diff from "./commands/diff.js"
import * as Update from "./commands/update.js"
import * as Versions from "./commands/versions.js"
import { invoke } from "./invoke.js"
import { runInProcess } from "./process.js"
import type { QuickCommand } from "./quickCommands.js"
import type { Definition } from "./shared/definition.js"
import { withoutColours } from "./shared/text.js"

const definitions: Readonly<Record<QuickCommand, Definition>> = {
  versions: Versions.definition,
  diff: Diff.definition,
  deliveries: Deliveries.definition,
  delete: Delete.definition,
  update: Update.definition
}

/** Runs the command. The first argument is its name. */
export const main = (name: QuickCommand, args: ReadonlyArray<string>): void =>
  runInProcess(withoutColours(invoke(definitions[name], args)))

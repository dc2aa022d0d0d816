/** `versions`: lists the versions of an action. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Actions from "../../Actions.js"
import type { ActionVersion } from "../../operations/listActionVersions.js"
import * as Client from "../client.js"
import { define } from "../shared/definition.js"
import { action, json } from "../shared/parameters.js"
import { jsonLine, table } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

const row = ({ built_at, deployed, number, runtime, status }: ActionVersion) => [
  number ?? "?",
  status ?? "",
  deployed === true ? "yes" : "",
  runtime ?? "",
  built_at?.replace(/\.\d+Z$/, "Z") ?? "not yet"
]

export const definition = define({
  name: "versions",
  usage: "ACTION [--json]",
  about: "Lists the versions of an action, the newest first.",
  codes: { 3: "no such action" },
  config: { action, json: json("a line of JSON per version") },
  run: ({ action, json }) => {
    const versions = Actions.versions(action)
    const print = json
      ? Stream.runForEach(versions, (version) => Console.log(jsonLine(version)))
      : Effect.flatMap(
        Stream.runCollect(Stream.map(versions, row)),
        (rows) => Console.log(table([["#", "status", "deployed", "runtime", "built"], ...rows]))
      )
    return print.pipe(wrongArguments({ actionId: "ACTION" }), Effect.provide(Client.layer))
  }
})

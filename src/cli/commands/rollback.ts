/** `rollback`: deploys an earlier version of an action. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Actions from "../../Actions.js"
import * as Node from "../../Node.js"
import type { ActionVersion } from "../../operations/listActionVersions.js"
import { shown } from "../shared/changes.js"
import { confirm } from "../shared/confirm.js"
import { define } from "../shared/definition.js"
import { Exited } from "../shared/exit.js"
import { action, json, yes } from "../shared/parameters.js"
import { complain, jsonLine } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

/** Says on Ctrl-C what has become of the deployment: `sending` lasts until the service has responded. */
const onInterrupt = {
  before: () => "Nothing was deployed.",
  sending: (action: string) =>
    `The service may have deployed it. See which version is deployed: effect-identity-client versions ${action}`,
  deployed: (action: string) => `The deployment goes on: effect-identity-client versions ${action}`
}

const title = ({ number }: ActionVersion): string => `version ${number ?? "?"}`

export const definition = define({
  name: "rollback",
  usage: "ACTION NUMBER [--yes] [--timeout SECONDS] [--json]",
  about:
    "Shows the changes between the deployed version of an action and another one, asks, deploys that one, and waits until " +
    "it is live. The service makes a new version of it.",
  codes: { 3: "no such action or version" },
  config: {
    action,
    number: Args.integer({ name: "number" }).pipe(Args.withDescription("The number of the version to deploy")),
    yes,
    timeout: Options.integer("timeout").pipe(
      Options.withDefault(120),
      Options.withDescription("Seconds to wait until the version is live (default: 120)")
    ),
    json: json("one line of JSON: the outcome, and the version that is live")
  },
  run: ({ action, json, number, timeout, yes }) =>
    Effect.gen(function*() {
      let phase: keyof typeof onInterrupt = "before"
      const { outcome, version } = yield* Actions.rollback(action, number, {
        timeout: Duration.seconds(timeout),
        confirm: (before, after) =>
          Effect.zipRight(
            json ? Effect.void : Console.log(before === undefined ? "No version is deployed." : shown(before, after)),
            Effect.tap(confirm(`Deploy version ${number}?`, yes), (isConfirmed) =>
              Effect.sync(() => {
                if (isConfirmed) phase = "sending"
              }))
          ),
        onDeployed: (version) => {
          phase = "deployed"
          return Console.error(`${title(version)} is deployed; waiting until it is live`)
        }
      }).pipe(
        Effect.onInterrupt(() => Console.error(`Interrupted. ${onInterrupt[phase](action)}`)),
        wrongArguments({ actionId: "ACTION" }),
        Effect.catchTag("VersionNotFound", () =>
          Effect.zipRight(complain(`This action has no version ${number}.`), new Exited({ code: 3 })))
      )
      if (outcome === "declined") {
        if (json) {
          yield* Console.log(jsonLine({ outcome, version }))
        }
        yield* Console.error(onInterrupt.before())
        return yield* new Exited({ code: 1 })
      }
      const texts = {
        live: `Version ${number} is live, as ${title(version)}.`,
        unchanged: `Version ${number} is live already.`
      }
      yield* Console.log(json ? jsonLine({ outcome, version }) : texts[outcome])
    }).pipe(Effect.provide(Node.layerConfig))
})

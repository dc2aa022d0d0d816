/** `diff`: shows the changes between two versions of an action. */
import * as Args from "@effect/cli/Args"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Actions from "../../Actions.js"
import * as Client from "../client.js"
import { patches, shown } from "../shared/changes.js"
import { define } from "../shared/definition.js"
import { Exited } from "../shared/exit.js"
import { action, json } from "../shared/parameters.js"
import { complain, jsonLine } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

const number = (name: string, text: string) =>
  Args.integer({ name }).pipe(Args.withDescription(text), Args.optional, Args.map(Option.getOrUndefined))

const notFound = (text: string) => Effect.zipRight(complain(text), new Exited({ code: 3 }))

/** The two versions; by default the deployed one and the one before it. */
const pair = (action: string, from: number | undefined, to: number | undefined) =>
  Effect.gen(function*() {
    const { deployed } = to === undefined ? yield* Actions.find(action, []) : { deployed: undefined }
    const last = to ?? deployed?.number
    if (last === undefined) return yield* notFound("No version of this action is deployed: name two versions.")
    const wanted = [from ?? last - 1, last]
    const { found } = yield* Actions.find(action, wanted)
    const missing = wanted.filter((number) => !found.has(number))
    const [before, after] = wanted.flatMap((number) => found.get(number) ?? [])
    if (before === undefined || after === undefined) {
      return yield* notFound(`This action has no version ${missing.join(" and no version ")}.`)
    }
    return [before, after] as const
  })

export const definition = define({
  name: "diff",
  usage: "ACTION [FROM] [TO] [--json]",
  about:
    "Shows the changes between two versions of an action: code, dependencies, and secrets, whose values nobody can read.",
  codes: { 3: "no such action or version" },
  config: {
    action,
    from: number("from", "The number of the older version (default: the one before TO)"),
    to: number("to", "The number of the newer version (default: the deployed one)"),
    json: json("one line of JSON, with a patch for each part")
  },
  run: ({ action, from, json, to }) =>
    Effect.gen(function*() {
      const [before, after] = yield* pair(action, from, to)
      yield* Console.log(
        json
          ? jsonLine({ from: before.number, to: after.number, changes: patches(before, after) })
          : shown(before, after)
      )
    }).pipe(wrongArguments({ actionId: "ACTION" }), Effect.provide(Client.layer))
})

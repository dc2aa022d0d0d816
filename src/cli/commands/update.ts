/** `update`: changes a token exchange profile. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { updateTokenExchangeProfile } from "../../operations/updateTokenExchangeProfile.js"
import * as Client from "../client.js"
import { define } from "../shared/definition.js"
import { WrongUsage } from "../shared/exit.js"
import { json } from "../shared/parameters.js"
import { jsonLine, printableLine } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

const text = (name: string, description: string) =>
  Options.text(name).pipe(
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined)
  )

export const definition = define({
  name: "update",
  usage: "PROFILE [--name NAME] [--subject-token-type URI] [--json]",
  about: "Changes the name of a token exchange profile, or the type of token that it accepts.",
  codes: { 3: "no such profile" },
  config: {
    profile: Args.text({ name: "profile" }).pipe(Args.withDescription("The id of the profile")),
    name: text("name", "The new name: 3 to 50 characters"),
    type: text("subject-token-type", "The new type: a URI of 8 to 100 characters"),
    json: json("the profile as one line of JSON")
  },
  run: ({ json, name, profile: id, type }) =>
    Effect.gen(function*() {
      if (name === undefined && type === undefined) {
        return yield* new WrongUsage({ message: "There is nothing to change: add --name or --subject-token-type." })
      }
      const profile = yield* Effect.provide(
        updateTokenExchangeProfile({ id, name, subject_token_type: type }),
        Client.layer
      )
      yield* Console.log(
        json
          ? jsonLine(profile ?? { id })
          : `profile ${id} is updated${profile?.name === undefined ? "" : `: ${printableLine(profile.name)}`}`
      )
    }).pipe(wrongArguments({ id: "PROFILE", name: "--name", subject_token_type: "--subject-token-type" }))
})

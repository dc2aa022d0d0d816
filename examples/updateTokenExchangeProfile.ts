/** Renames a token exchange profile: `npx tsx examples/updateTokenExchangeProfile.ts tep_… --name "Legacy tokens"` */
import { Console, Effect } from "effect"
import { updateTokenExchangeProfile } from "effect-identity-client"
import { run } from "./support/script.js"

const usage = "updateTokenExchangeProfile PROFILE_ID [--name NAME] [--subject-token-type URI]"

const options = { name: { type: "string" }, "subject-token-type": { type: "string" } } as const

run({ usage, positionals: 1, options: options }, ({ positionals: [id = ""], values }) =>
  Effect.gen(function*() {
    const profile = yield* updateTokenExchangeProfile({
      id,
      name: values.name,
      subject_token_type: values["subject-token-type"]
    })
    yield* Console.log(`profile ${id} is updated${profile?.name === undefined ? "" : `: ${profile.name}`}`)
  }))

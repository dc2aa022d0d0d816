/** Lists the versions of an action, or rolls it back: `npx tsx examples/actionHistory.ts ACTION_ID --rollback 3 --yes` */
import { Console, Effect, Stream } from "effect"
import { Actions, type ActionVersion } from "effect-identity-client"
import { run } from "./support/script.js"

const usage = "actionHistory ACTION_ID [--rollback NUMBER [--yes]]"

const options = { rollback: { type: "string" }, yes: { type: "boolean" } } as const

/** Names what differs; `effect-identity-client diff` shows the lines. */
const differences = (before: ActionVersion, after: ActionVersion): string =>
  Actions.changes(before, after).map(({ part }) => part).join(", ") || "nothing"

run(
  { usage, positionals: 1, options },
  ({ positionals: [actionId = ""], values: { rollback, yes = false } }) =>
    Effect.gen(function*() {
      if (rollback === undefined) {
        return yield* Stream.runForEach(
          Actions.versions(actionId),
          ({ created_at, deployed, number }) =>
            Console.log(`#${number} of ${created_at}${deployed === true ? ", live" : ""}`)
        )
      }
      const { outcome, version } = yield* Actions.rollback(actionId, Number(rollback), {
        confirm: (before, after) =>
          Effect.as(Console.log(`changes: ${before === undefined ? "everything" : differences(before, after)}`), yes)
      })
      yield* Console.log(
        {
          live: `#${rollback} is live, as #${version.number}`,
          unchanged: `#${rollback} is live already`,
          declined: "nothing was deployed: add --yes"
        }[outcome]
      )
    })
)

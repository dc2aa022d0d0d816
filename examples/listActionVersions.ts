/** Lists a page of an action's versions: `npx tsx examples/listActionVersions.ts ACTION_ID --page 0` */
import { Console, Effect } from "effect"
import { listActionVersions } from "effect-identity-client"
import { number, run } from "./support/script.js"

const usage = "listActionVersions ACTION_ID [--page N] [--per-page N]"

const options = { page: { type: "string" }, "per-page": { type: "string" } } as const

run({ usage, positionals: 1, options: options }, ({ positionals: [actionId = ""], values }) =>
  Effect.gen(function*() {
    const page = yield* listActionVersions({
      actionId,
      page: number(values.page),
      per_page: number(values["per-page"])
    })
    yield* Console.log(`page ${page.page ?? 0}: ${page.versions.length} of ${page.total} versions`)
    yield* Effect.forEach(
      page.versions,
      ({ built_at, deployed, number, runtime, status }) =>
        Console.log([`#${number ?? "?"}`, status, runtime, built_at, deployed === true ? "deployed" : ""].join("  "))
    )
  }))

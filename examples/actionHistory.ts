/** Lists the versions of an action, or the changes between two: `npx tsx examples/actionHistory.ts ACTION_ID --diff 1 3` */
import { Args, Command, HelpDoc, Options } from "@effect/cli"
import { createTwoFilesPatch } from "diff"
import { Chunk, Console, Effect, Option, Stream } from "effect"
import { type ActionVersion, listActionVersions, Pagination } from "effect-identity-client"
import { exitCodes, Exited, runCommand, withClient } from "./support/command.js"
import { table } from "./support/table.js"
import { bold, dim, green, red, redOnStderr } from "./support/terminal.js"

const versionsOf = (actionId: string) => Pagination.stream(listActionVersions, { actionId, per_page: 50 })

const row = ({ built_at, deployed, number, runtime, status }: ActionVersion) => [
  number ?? "?",
  status ?? "",
  deployed === true ? "yes" : "",
  runtime ?? "",
  built_at?.replace(/\.\d+Z$/, "Z") ?? "not yet"
]

/** Code, dependencies and secrets as text, one line for each dependency and secret. */
const parts = ({ code = "", dependencies = [], secrets = [] }: ActionVersion) => ({
  code,
  dependencies: dependencies.map(({ name, version }) => `${name}@${version}\n`).sort().join(""),
  secrets: secrets.map(({ name, updated_at }) => `${name} of ${updated_at}\n`).sort().join("")
})

const paint = (line: string): string =>
  /^(?:\+\+\+|---)/.test(line) ? bold(line) : line.startsWith("+") ? green(line) : line.startsWith("-") ?
    red(line)
    : line.startsWith("@@")
    ? dim(line)
    : line

const diff = (before: ActionVersion, after: ActionVersion): string => {
  const [oldParts, newParts] = [parts(before), parts(after)]
  return (["code", "dependencies", "secrets"] as const).flatMap((part) =>
    oldParts[part] === newParts[part] ? [] : [
      createTwoFilesPatch(
        `${part} of #${before.number}`,
        `${part} of #${after.number}`,
        oldParts[part],
        newParts[part],
        undefined,
        undefined,
        { context: 3 }
      )
        .split("\n").slice(1, -1).map(paint).join("\n")
    ]
  ).join("\n")
}

/** Finds versions by their numbers, and requests no page after the last of them. */
const find = (actionId: string, numbers: ReadonlyArray<number>) =>
  versionsOf(actionId).pipe(
    Stream.filter(({ number }) => number !== undefined && numbers.includes(number)),
    Stream.take(new Set(numbers).size),
    Stream.runCollect,
    Effect.map((found) => numbers.map((wanted) => Chunk.findFirst(found, ({ number }) => number === wanted)))
  )

const action = Args.text({ name: "action-id" }).pipe(Args.withDescription("The id of the action"))
const other = Args.text({ name: "to" }).pipe(
  Args.withDescription("With --diff: the other version (default: the one before)"),
  Args.optional
)
/** Accepts `--diff 3 4` before the id and after it. */
const args = Args.mapEffect(Args.all({ action, other }), ({ action, other }) => {
  const [id, to] = Option.match(other, {
    onNone: () => [action, undefined],
    onSome: (other) => /^\d+$/.test(action) ? [other, action] : [action, other]
  })
  return to === undefined || /^\d+$/.test(to)
    ? Effect.succeed({ id, to: to === undefined ? undefined : Number(to) })
    : Effect.fail(HelpDoc.p(`"${to}" is not a version number.`))
})
const from = Options.integer("diff").pipe(
  Options.optional,
  Options.withDescription("The number of a version: show the changes between it and another, --diff 3 4")
)

const command = Command.make(
  "action-history",
  { args, from },
  ({ args: { id, to }, from }) =>
    Effect.gen(function*() {
      if (Option.isNone(from)) {
        if (to !== undefined) {
          yield* Console.error(redOnStderr(`Version ${to} needs another version: --diff NUMBER ${to}`))
          return yield* new Exited({ code: 2 })
        }
        const rows = yield* Stream.runCollect(Stream.map(versionsOf(id), row))
        return yield* Console.log(table([["#", "status", "deployed", "runtime", "built"], ...rows]))
      }
      const wanted = to === undefined ? [from.value - 1, from.value] : [from.value, to]
      const found = yield* find(id, wanted)
      const [before, after] = Option.getOrElse(Option.all(found), () => [])
      if (before === undefined || after === undefined) {
        const missing = wanted.filter((_, place) => found[place]?._tag === "None")
        yield* Console.error(redOnStderr(`This action has no version ${missing.join(" and no version ")}.`))
        return yield* new Exited({ code: 3 })
      }
      const text = diff(before, after)
      yield* Console.log(text === "" ? "Code, dependencies and secrets are the same." : text)
    }).pipe(withClient)
).pipe(
  Command.withDescription(HelpDoc.blocks([
    HelpDoc.p("Lists the versions of an action, or shows the changes between two: code, dependencies, secrets."),
    exitCodes({ 3: "no such version" })
  ]))
)

runCommand("action-history", command)

/** Starts an export of users: `npx tsx examples/exportUsers.ts --format csv email name=Name` */
import { Args, Command, HelpDoc, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { createUsersExport } from "effect-identity-client"
import { exitCodes, runCommand, withClient } from "./support/command.js"
import { table } from "./support/table.js"

/** `NAME` or `NAME=TITLE`. An invalid field is refused before anything is sent. */
const fields = Args.text({ name: "field" }).pipe(
  Args.withDescription("A field of the user profile, with the title of its column: email, or email=E-mail"),
  Args.mapEffect((text) => {
    const at = text.indexOf("=")
    const [name, title] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
    const wrong = name === "" ? "has no name" : [...name].length > 100 ?
      "has a name of more than 100 characters"
      : title === "" ?
      "has an empty title" :
      [...title ?? ""].length > 100 ?
      "has a title of more than 100 characters"
      : undefined
    return wrong === undefined
      ? Effect.succeed({ name, export_as: title })
      : Effect.fail(HelpDoc.p(`The field "${text.slice(0, 40)}" ${wrong}.`))
  }),
  Args.repeated
)

const options = {
  format: Options.choice("format", ["csv", "json"]).pipe(
    Options.optional,
    Options.withDescription("The format of the file (default of the service: json)")
  ),
  connection: Options.text("connection").pipe(
    Options.optional,
    Options.withDescription(
      "The connection whose users are exported: con_ and 16 characters (default: all connections)"
    )
  ),
  limit: Options.integer("limit").pipe(
    Options.optional,
    Options.withDescription("The maximum number of users (default: all)")
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Prints the job as JSON"))
}

const command = Command.make(
  "export-users",
  { ...options, fields },
  ({ connection, fields, format, json, limit }) =>
    Effect.gen(function*() {
      const job = yield* createUsersExport({
        format: Option.getOrUndefined(format),
        connection_id: Option.getOrUndefined(connection),
        limit: Option.getOrUndefined(limit),
        fields: fields.length === 0 ? undefined : fields
      })
      if (json) return yield* Console.log(JSON.stringify(job))
      yield* Console.log(table([
        ["job", job.id],
        ["status", job.status],
        ["connection", String(job.connection ?? "all")],
        ["format", job.format ?? "json"],
        [
          "fields",
          job.fields?.map(({ export_as, name }) => export_as === undefined ? name : `${name} as "${export_as}"`).join(
            ", "
          ) ?? "the service's default"
        ]
      ]))
    }).pipe(withClient)
).pipe(
  Command.withDescription(HelpDoc.blocks([
    HelpDoc.p("Starts an export of users and prints the job. Invalid fields are refused before anything is sent."),
    exitCodes({})
  ]))
)

runCommand("export-users", command)

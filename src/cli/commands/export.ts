/** `export`: exports users into a file. */
import * as Args from "@effect/cli/Args"
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exports from "../../Exports.js"
import * as Node from "../../Node.js"
import { define } from "../shared/definition.js"
import { Exited, WrongUsage } from "../shared/exit.js"
import { json, optional } from "../shared/parameters.js"
import { refuse } from "../shared/parser.js"
import * as ProgressBar from "../shared/progressBar.js"
import { complain, jsonLine, printableLine, table } from "../shared/text.js"
import { wrongArguments } from "../shared/wrongArguments.js"

const flag = (name: string, text: string) => Options.boolean(name).pipe(Options.withDescription(text))

/** `NAME` or `NAME=TITLE`. An invalid field is refused before anything is sent. */
const fields = Args.text({ name: "field" }).pipe(
  Args.withDescription("A field of the profile, with the title of its column: email, or email=E-mail"),
  Args.mapEffect((text) => {
    const at = text.indexOf("=")
    const [name, title] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
    const problem = name === ""
      ? "has no name"
      : [...name].length > 100
      ? "has a name of more than 100 characters"
      : title === ""
      ? "has an empty title"
      : [...title ?? ""].length > 100
      ? "has a title of more than 100 characters"
      : undefined
    return problem === undefined
      ? Effect.succeed({ name, export_as: title })
      : refuse(`The field "${text.slice(0, 40)}" ${problem}.`)
  }),
  Args.repeated
)

/** Refuses an empty name and a folder, before a job is started. */
const checkFile = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const isFolder = Effect.map(fs.stat(path), ({ type }) => type === "Directory")
    if (path === "" || (yield* Effect.orElseSucceed(isFolder, () => false))) {
      return yield* new WrongUsage({ message: "--out: expected the name of a file" })
    }
  })

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

const statusOf = ({ bytes, percentage, phase, remaining, totalBytes }: Exports.Progress): ProgressBar.Status => {
  const isDownload = phase === "downloading" || phase === "done"
  const [done, total] = isDownload ? [bytes, totalBytes] : [percentage ?? 0, 100]
  const part = !isDownload
    ? `the job runs${percentage === undefined ? "" : `, ${percentage} %`}`
    : `${megabytes(bytes)}${totalBytes === undefined ? "" : ` of ${megabytes(totalBytes)}`}`
  return { done, total, text: `${part}, ${ProgressBar.formatTime(remaining)} left` }
}

/** The message of a failure that an option helps against. The library's own message names options of its functions. */
const adviceOn = ({ job, message, reason }: Exports.ExportError): string | undefined => {
  switch (reason) {
    case "exists":
      return message.includes("folder") ? undefined : `${message}; --overwrite replaces it`
    case "unknown-start":
      return "an earlier run ended while it started a job: look for it in the tenant, then give its id with --job, or start " +
        "another one with --start-again"
    case "timeout":
      return `${message}: run the same command again to go on with ${printableLine(job ?? "the job")}`
    default:
      return undefined
  }
}

const advise = (error: Exports.ExportError): Effect.Effect<never, Exports.ExportError | Exited> => {
  const message = adviceOn(error)
  return message === undefined
    ? error
    : Effect.zipRight(complain(`${error._tag}: ${message}`), new Exited({ code: 1 }))
}

export const definition = define({
  name: "export",
  usage: "--out FILE [--format json|csv] [--job ID] [--json] [FIELD…]",
  about:
    "Exports users into a file, which appears once it is complete. If the command is interrupted or crashes, run it again: " +
    "it goes on with the same job.",
  codes: { 3: "no such job", 130: "interrupted; run it again to go on with the same job" },
  config: {
    fields,
    out: Options.text("out").pipe(Options.withDescription("The file to write")),
    format: optional(Options.choice("format", ["json", "csv"]), "The format: json has a user per line (default: json)"),
    connection: optional(Options.text("connection"), "Only users of this connection, con_… (default: all)"),
    limit: optional(Options.integer("limit"), "The maximum number of users (default: all)"),
    gzip: flag("gzip", "Write the file compressed"),
    overwrite: flag("overwrite", "Replace the file if it exists"),
    job: optional(Options.text("job"), "Go on with this job instead of starting one"),
    startAgain: flag("start-again", "Start a job though an earlier run may have started one"),
    timeout: Options.integer("timeout").pipe(
      Options.withDefault(32_400),
      Options.withDescription("Seconds to wait for the end of the job (default: 32400, nine hours)")
    ),
    json: json("one line of JSON: path, job, rows and size")
  },
  run: ({ connection, fields, format = "json", gzip, job, json, limit, out, overwrite, startAgain, timeout }) =>
    Effect.gen(function*() {
      const progress = yield* Exports.makeProgress
      const input = {
        format,
        ...(connection !== undefined && { connection_id: connection }),
        ...(limit !== undefined && { limit }),
        ...(fields.length > 0 && { fields })
      }
      const file = yield* Effect.scoped(Effect.gen(function*() {
        if (!json) yield* ProgressBar.show(Effect.map(progress, statusOf))
        return yield* Exports.toFile(out, input, {
          gzip,
          overwrite,
          job,
          startAgain,
          progress,
          timeout: Duration.seconds(timeout)
        })
      })).pipe(
        Effect.onInterrupt(() =>
          Effect.flatMap(progress, ({ job }) =>
            Console.error(
              job === undefined
                ? "Interrupted. Run the same command again: it says so if a job may have been started."
                : `Interrupted. Run the same command to go on with ${printableLine(job)}, for 24 hours.`
            ))
        ),
        wrongArguments({
          connection_id: "--connection",
          limit: "--limit",
          fields: "FIELD",
          ...(job !== undefined && { id: "--job" })
        }),
        Effect.catchTag("ExportError", advise)
      )
      yield* Console.log(
        json ? jsonLine(file) : table([
          ["file", file.path],
          ["job", file.job],
          ["rows", String(file.rows)],
          ["size", `${file.size} bytes`]
        ])
      )
    }).pipe(
      Effect.provide(Node.layerConfig),
      (exporting) => Effect.zipRight(checkFile(out), exporting)
    )
})

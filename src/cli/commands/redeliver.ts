/** `redeliver`: redelivers many failed events of a stream, with a call for each, which can be resumed, or with one for all. */
import * as Options from "@effect/cli/Options"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Deliveries from "../../Deliveries.js"
import * as Errors from "../../Errors.js"
import type { IdentityClient } from "../../IdentityClient.js"
import * as Node from "../../Node.js"
import * as Redelivery from "../../Redelivery.js"
import { define } from "../shared/definition.js"
import { describe, exitCode, Exited, WrongUsage } from "../shared/exit.js"
import { eventTypes, json, optional, stream, time } from "../shared/parameters.js"
import type { Parsed as ParsedConfig } from "../shared/parser.js"
import * as ProgressBar from "../shared/progressBar.js"
import { Stdio } from "../shared/stdio.js"
import { complain, counted, jsonLine, table } from "../shared/text.js"
import { type Names, wrongArguments } from "../shared/wrongArguments.js"
import { defaults, redeliverWithOneCall } from "./redeliverWithOneCall.js"

const config = {
  stream,
  file: optional(
    Options.file("file", { exists: "yes" }),
    "A file with event ids, one per line (default: the standard input)"
  ),
  failedSince: time("failed-since", "Instead of ids: all that failed since 2026-01-31 or 2026-01-31T22:00:00Z"),
  eventTypes,
  journal: optional(
    Options.directory("journal"),
    "Directory of the results (default: redelivery-STREAM)"
  ),
  concurrency: optional(Options.integer("concurrency"), "Number of events sent at the same time (default: 10)"),
  stopAfter: optional(Options.integer("stop-after"), "Stop after this number of failures (default: 50)"),
  repeatUnknown: Options.boolean("repeat-unknown").pipe(
    Options.withDescription("Also retry unknown events, which may come twice")
  ),
  oneCall: Options.boolean("one-call").pipe(
    Options.withDescription(
      "One call for all that failed, which it then follows"
    )
  ),
  from: time("from", "With --one-call: failures from this time on"),
  to: time("to", "With --one-call: failures up to this time"),
  deliveredAfter: optional(
    Options.integer("delivered-after"),
    "With --one-call: seconds without a failure after which an event is delivered (default: 60)"
  ),
  followFor: optional(
    Options.integer("follow-for"),
    "With --one-call: seconds to follow (default: 600)"
  ),
  yes: Options.boolean("yes").pipe(Options.withAlias("y"), Options.withDescription("With --one-call: do not ask")),
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Send nothing, and list what would be sent")),
  json: json("lines of JSON: results, and a summary")
}

type Parsed = ParsedConfig<typeof config>

/** Refuses to follow events for a time in which none can count as delivered. */
const tooShort = (
  { deliveredAfter = defaults.deliveredAfter, followFor = defaults.followFor }: Parsed
): string | undefined =>
  deliveredAfter < followFor
    ? undefined
    : `--delivered-after (${deliveredAfter} s) must be shorter than --follow-for (${followFor} s): else no event counts as delivered.`

/** Names an option that the others make useless, or that needs another one. */
const contradiction = (args: Parsed): string | undefined => {
  const given = (options: Readonly<Record<string, unknown>>) =>
    Object.entries(options).find(([, value]) => value !== undefined && value !== false)?.[0]
  const { failedSince, file, oneCall } = args
  const useless = given({
    "--file": file,
    "--failed-since": failedSince,
    "--journal": args.journal,
    "--concurrency": args.concurrency,
    "--stop-after": args.stopAfter,
    "--repeat-unknown": args.repeatUnknown
  })
  if (oneCall) return useless === undefined ? tooShort(args) : `${useless} cannot be used with --one-call.`
  const lonely = given({
    "--from": args.from,
    "--to": args.to,
    "--delivered-after": args.deliveredAfter,
    "--follow-for": args.followFor,
    "--yes": args.yes
  })
  if (lonely !== undefined) return `${lonely} needs --one-call.`
  if (file !== undefined && failedSince !== undefined) return "Give either --file or --failed-since."
  return failedSince === undefined && args.eventTypes.length > 0
    ? "--event-type needs --failed-since or --one-call."
    : undefined
}

/** The arguments by the fields of `Redelivery.run`, `Redelivery.runFiltered` and of the filter. */
const namesOf = ({ oneCall }: Parsed): Names => ({
  stream: "STREAM",
  concurrency: "--concurrency",
  stopAfter: "--stop-after",
  eventTypes: "--event-type",
  from: oneCall ? "--from" : "--failed-since",
  to: "--to"
})

/** Reads ids, one per line. Blank lines, and text after a #, are ignored. */
const idsFrom = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  bytes.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.map((line) => line.replace(/#.*/, "").trim()),
    Stream.filter((line) => line !== "")
  )

/** The ids of all that have failed since a time. */
const failedIds = (stream: string, from: string, eventTypes: ReadonlyArray<string>) =>
  Stream.map(
    Deliveries.failed(stream, { from, eventTypes: eventTypes.length === 0 ? undefined : eventTypes }),
    ({ id }) => id
  )

type IdsFailure = PlatformError | Stream.Stream.Error<ReturnType<typeof failedIds>>

const statusOf = ({ done, outcomes, paused, rate, remaining, total }: Redelivery.Progress): ProgressBar.Status => {
  const problems = outcomes.failed + outcomes.unknown
  return {
    done,
    total,
    text: `${done}${total === undefined ? "" : ` of ${total}`}, ${rate.toFixed(0)}/s, ${
      ProgressBar.formatTime(remaining)
    } left${problems === 0 ? "" : `, ${problems} failed or unknown`}${paused === undefined ? "" : ", paused"}`
  }
}

const meanings: Readonly<Record<Redelivery.Outcome, string>> = {
  accepted: "will be delivered again",
  notFailed: "has not failed, or no longer",
  gone: "does not exist",
  invalid: "not an event id",
  unknown: "may have been accepted; check, then retry with --repeat-unknown",
  failed: "not accepted; run again to retry them",
  due: "would be sent"
}

/** The ten most frequent reasons, with their counts. */
const topReasons = (counts: ReadonlyMap<string, number>): string => {
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  return [
    ...sorted.slice(0, 10).map(([reason, count]) => `${count} × ${reason}`),
    ...(sorted.length > 10 ? [`and ${sorted.length - 10} other reasons; --json prints them all`] : [])
  ].join("\n")
}

const summary = ({ done, elapsed, outcomes, recalled, stopped }: Redelivery.Progress): string =>
  [
    table(
      Redelivery.outcomes.filter((outcome) => outcomes[outcome] > 0).map((
        outcome
      ) => [outcome, outcomes[outcome], meanings[outcome]])
    ),
    `${counted(done, "event")} in ${ProgressBar.formatTime(elapsed)}${
      recalled === 0 ? "" : `, ${recalled} of them already known`
    }${stopped ? "; stopped early" : ""}`
  ].filter((text) => text !== "").join("\n")

/** Names the events that may have been accepted, and the option that sends them again. */
const unknownEvents = ({ outcomes, unknown }: Redelivery.Progress): string =>
  unknown.length === 0 ?
    "" :
    `unknown: ${unknown.join(", ")}${
      outcomes.unknown > unknown.length ? ", …" : ""
    }\nCheck them; --repeat-unknown sends them again.`

const encodeFailure = Schema.encodeSync(Errors.Failure)

/** The codes of failures to reach the service that a setting causes. */
const lasting = /\((?:ENOTFOUND|PROXY_4\d\d|\w*(?:CERT|UNABLE_TO_)\w*)\)/

/** Redelivers events with a call for each. */
const redeliverEach = (args: Parsed) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { input, inputIsTerminal } = yield* Stdio
    const { concurrency = 10, eventTypes, failedSince, file, stopAfter = 50, stream } = args
    // Events that fail again another night are another job.
    const job = failedSince === undefined ? stream : `${stream}-${failedSince}`
    const directory = args.journal ?? `redelivery-${encodeURIComponent(job)}`
    let hasInput = false
    const stdin = Stream.tap(input, () => Effect.sync(() => void (hasInput = true)))
    const given = idsFrom(file === undefined ? stdin : fs.stream(file))
    const ids: Stream.Stream<string, IdsFailure, IdentityClient> = failedSince === undefined
      ? given
      : failedIds(stream, failedSince, eventTypes)
    const total = file === undefined ? undefined : yield* Stream.runCount(given)
    const progress = yield* Redelivery.makeProgress
    const results = Redelivery.run(ids, {
      stream,
      journal: yield* Node.journal(directory),
      concurrency,
      dryRun: args.dryRun,
      repeat: args.repeatUnknown ? ["failed", "unknown"] : ["failed"],
      stopAfter,
      total,
      progress
    })
    const askForInput = inputIsTerminal
      ? Console.error("Type event ids, one per line, and end with Ctrl-D; or give --file or --failed-since.")
      : Effect.suspend(() =>
        hasInput ? Effect.void : Console.error(
          "Waiting for event ids on the standard input, one per line; or give --file or --failed-since."
        )
      ).pipe(Effect.delay("5 seconds"))
    const howToResume = `Run the same command to resume; the journal is ${directory}`
    const adviceAfter = (error: { readonly _tag: string; readonly message: string; readonly reason?: unknown }) =>
      (error._tag === "NotFound" || error.reason === "streamNotFound") && !error.message.includes("does the base URL")
        ? "Correct STREAM: no event stream has this id."
        : error.reason === "foreign"
        ? "Give another directory by --journal."
        : Errors.isTransient(error) && Errors.concerns(error) === "service" && !lasting.test(error.message)
        ? howToResume
        : `Mend this first. ${howToResume}`
    const reasons = new Map<string, number>()
    const countReason = ({ error, outcome }: Redelivery.Result) =>
      Effect.sync(() => {
        if (error === undefined || (outcome !== "failed" && outcome !== "unknown")) return
        const reason = `${outcome}: ${error.message}`
        if (reasons.has(reason) || reasons.size < 1000) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
      })
    const print = (result: Redelivery.Result) =>
      args.json
        ? Console.log(jsonLine({ ...result, ...(result.error && { error: encodeFailure(result.error) }) }))
        : Effect.zipRight(
          args.dryRun && result.outcome === "due" ? Console.log(result.id) : Effect.void,
          countReason(result)
        )
    const printSummary = Effect.flatMap(progress, (now) =>
      Console.log(
        args.json
          ? jsonLine({ done: now.done, recalled: now.recalled, stopped: now.stopped, ...now.outcomes })
          : [summary(now), topReasons(reasons), unknownEvents(now)].filter((text) => text !== "").join("\n")
      ))
    yield* Effect.scoped(Effect.gen(function*() {
      yield* ProgressBar.confirmInterrupt
      if (file === undefined && failedSince === undefined) yield* Effect.forkScoped(askForInput)
      if (!args.json) yield* ProgressBar.show(Effect.map(progress, statusOf))
      yield* Stream.runForEach(results, print)
    })).pipe(
      wrongArguments(namesOf(args)),
      // With wrong arguments nothing was sent; before any other failure, events may have been.
      Effect.catchIf((error) => !(error instanceof WrongUsage), (error) =>
        printSummary.pipe(
          Effect.zipRight(
            complain(
              `${describe(error)}\n${adviceAfter(error)}`
            )
          ),
          Effect.zipRight(
            new Exited({ code: error._tag === "RunError" && error.reason !== "refused" ? 3 : exitCode(error) })
          )
        )),
      Effect.onInterrupt(() =>
        Effect.flatMap(Effect.zipRight(printSummary, progress), (now) => {
          // The results of events that were being sent have not been printed.
          const unknown = args.json ? unknownEvents(now) : ""
          return Console.error(
            `Interrupted. ${args.dryRun ? "Nothing was sent." : howToResume}${unknown === "" ? "" : `\n${unknown}`}`
          )
        })
      )
    )
    yield* printSummary
    const { outcomes: { failed, invalid, unknown }, stopped } = yield* progress
    if (stopped || failed + invalid + unknown > 0) {
      return yield* new Exited({ code: 3 })
    }
  })

export const definition = define({
  name: "redeliver",
  usage:
    "STREAM [--file FILE | --failed-since TIME | --one-call [--from TIME] [--to TIME] [--yes]] [--dry-run] [--json]",
  about:
    "Redelivers failed events of a stream, each once. The results are kept in a directory: if the command is interrupted or " +
    "crashes, run it again to resume. With --one-call it asks first, keeps nothing, and tells what became of each event.",
  codes: {
    3: "failed, unknown, invalid or pending events; no such stream; an outage",
    130: "interrupted; run it again to resume (not with --one-call)"
  },
  config,
  run: (args) =>
    Effect.gen(function*() {
      const message = contradiction(args)
      if (message !== undefined) return yield* new WrongUsage({ message })
      yield* args.oneCall ? wrongArguments(namesOf(args))(redeliverWithOneCall(args)) : redeliverEach(args)
    }).pipe(Effect.provide(Node.layerConfig))
})

/** `redeliver`: redelivers many failed events of a stream, and can be resumed. */
import * as Options from "@effect/cli/Options"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Node from "../../Node.js"
import * as Redelivery from "../../Redelivery.js"
import { define } from "../shared/definition.js"
import { Exited } from "../shared/exit.js"
import { json, stream } from "../shared/parameters.js"
import * as ProgressBar from "../shared/progressBar.js"
import { Stdio } from "../shared/stdio.js"
import { table } from "../shared/text.js"

const config = {
  stream,
  file: Options.file("file", { exists: "yes" }).pipe(
    Options.withDescription("A file with event ids, one per line (default: the standard input)"),
    Options.optional
  ),
  journal: Options.directory("journal").pipe(
    Options.withDescription("The directory that makes the command resumable (default: redelivery-STREAM)"),
    Options.optional
  ),
  concurrency: Options.integer("concurrency").pipe(
    Options.withDefault(10),
    Options.withDescription("Number of events sent at the same time (default: 10)")
  ),
  stopAfter: Options.integer("stop-after").pipe(
    Options.withDescription("Stop after this number of failures"),
    Options.optional
  ),
  repeatUnknown: Options.boolean("repeat-unknown").pipe(
    Options.withDescription("Also retry events that may have been accepted: they may be delivered twice")
  ),
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Send nothing, and list what would be sent")),
  json: json("a line of JSON per result, and one for the summary")
}

/** Reads ids, one per line. Blank lines, and text after a #, are ignored. */
const idsFrom = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  bytes.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.map((line) => line.replace(/#.*/, "").trim()),
    Stream.filter((line) => line !== "")
  )

const statusOf = ({ done, outcomes, rate, remaining, total }: Redelivery.Progress): ProgressBar.Status => {
  const problems = outcomes.failed + outcomes.unknown
  return {
    done,
    total,
    text: `${done}${total === undefined ? "" : ` of ${total}`}, ${rate.toFixed(0)}/s, ${
      ProgressBar.formatTime(remaining)
    } left${problems === 0 ? "" : `, ${problems} failed or unknown`}`
  }
}

const meanings: Readonly<Record<Redelivery.Outcome, string>> = {
  accepted: "will be delivered again",
  notFailed: "has not failed, or no longer",
  gone: "does not exist",
  invalid: "not an event id",
  unknown: "may have been accepted; check before you retry them",
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
    `${done} events in ${ProgressBar.formatTime(elapsed)}${
      recalled === 0 ? "" : `, ${recalled} of them already known`
    }${stopped ? "; stopped early" : ""}`
  ].filter((text) => text !== "").join("\n")

export const definition = define({
  name: "redeliver",
  usage: "STREAM [--file FILE] [--journal DIRECTORY] [--dry-run] [--json]",
  about:
    "Redelivers failed events of a stream, each once. The results are kept in a directory: if the command is interrupted or " +
    "crashes, run it again to resume.",
  codes: {
    3: "some events failed, are unknown or have invalid ids, or the command stopped early",
    130: "interrupted; run it again to resume"
  },
  config,
  run: (args) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { input } = yield* Stdio
      const directory = Option.getOrElse(args.journal, () => `redelivery-${encodeURIComponent(args.stream)}`)
      const ids = idsFrom(Option.match(args.file, { onNone: () => input, onSome: (file) => fs.stream(file) }))
      const total = Option.isNone(args.file) ? undefined : yield* Stream.runCount(ids)
      const progress = yield* Redelivery.makeProgress
      const results = Redelivery.run(ids, {
        stream: args.stream,
        journal: yield* Node.journal(directory),
        concurrency: args.concurrency,
        dryRun: args.dryRun,
        repeat: args.repeatUnknown ? ["failed", "unknown"] : ["failed"],
        stopWhen: ({ outcomes }) => Option.exists(args.stopAfter, (limit) => outcomes.failed >= limit),
        total,
        progress
      })
      const reasons = new Map<string, number>()
      const countReason = ({ error, outcome }: Redelivery.Result) =>
        Effect.sync(() => {
          if (error === undefined || (outcome !== "failed" && outcome !== "unknown")) return
          const reason = `${outcome}: ${error.message}`
          if (reasons.has(reason) || reasons.size < 1000) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
        })
      const printSummary = Effect.flatMap(progress, (now) =>
        Console.log(
          args.json
            ? JSON.stringify({ done: now.done, recalled: now.recalled, stopped: now.stopped, ...now.outcomes })
            : [summary(now), topReasons(reasons)].filter((text) => text !== "").join("\n")
        ))
      yield* Effect.scoped(Effect.gen(function*() {
        yield* ProgressBar.confirmInterrupt
        if (!args.json) yield* ProgressBar.show(Effect.map(progress, statusOf))
        yield* Stream.runForEach(results, (result) =>
          args.json ? Console.log(JSON.stringify(result)) : countReason(result))
      })).pipe(
        Effect.onInterrupt(() =>
          Effect.zipRight(
            printSummary,
            Console.error(`Interrupted. Run the same command to resume; the journal is ${directory}`)
          )
        )
      )
      yield* printSummary
      const { outcomes: { failed, invalid, unknown }, stopped } = yield* progress
      if (stopped || failed + invalid + unknown > 0) {
        return yield* new Exited({ code: 3 })
      }
    }).pipe(Effect.provide(Node.layer))
})

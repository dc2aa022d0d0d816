/** Redelivers many failed events of a stream: `npx tsx examples/redeliverEvents.ts --file ids.txt est_…` */
import { Args, Command, HelpDoc, Options } from "@effect/cli"
import { FileSystem } from "@effect/platform"
import { NodeStream } from "@effect/platform-node"
import { Console, Duration, Effect, Option, Stream, type SubscriptionRef } from "effect"
import { Redelivery } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import { exitCodes, Exited, runCommand, withClient } from "./support/command.js"
import { table } from "./support/table.js"

const { stderr } = process

const streamId = Args.text({ name: "stream-id" }).pipe(Args.withDescription("Id of the event stream"))

const options = {
  file: Options.file("file", { exists: "yes" }).pipe(
    Options.optional,
    Options.withDescription("A file with event ids, one per line (default: standard input)")
  ),
  journal: Options.directory("journal").pipe(
    Options.optional,
    Options.withDescription(
      "Directory of the journal, which makes the command resumable (default: redelivery-STREAM_ID)"
    )
  ),
  concurrency: Options.integer("concurrency").pipe(
    Options.withDefault(10),
    Options.withDescription("Number of events sent at the same time (default: 10)")
  ),
  stopAfter: Options.integer("stop-after").pipe(
    Options.withDefault(50),
    Options.withDescription("Stop after this number of failures (default: 50)")
  ),
  repeatUnknown: Options.boolean("repeat-unknown").pipe(
    Options.withDescription("Also retry events that may have been accepted: they may be delivered twice")
  ),
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Send nothing, and list what would be sent")),
  json: Options.boolean("json").pipe(
    Options.withDescription("Print a line of JSON per result, and one for the summary")
  )
}

/** Reads ids, one per line. Blank lines, and text after a #, are ignored. */
const idsFrom = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  bytes.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.map((line) => line.replace(/#.*/, "").trim()),
    Stream.filter((line) => line !== "")
  )

const formatTime = (duration: Duration.Duration | undefined) =>
  duration === undefined ? "?" : Duration.format(Duration.seconds(Math.ceil(Duration.toSeconds(duration))))

const statusLine = ({ done, outcomes, paused, rate, remaining, total }: Redelivery.Progress): string => {
  const problems = outcomes.failed + outcomes.unknown
  if (paused !== undefined) return `${done} done, paused: ${paused.message}`
  return `${done}${total === undefined ? "" : ` of ${total}`}, ${rate.toFixed(0)}/s, ${formatTime(remaining)} left` +
    (problems === 0 ? "" : `, ${problems} failed or unknown`)
}

/** A progress bar, if the terminal's line has room for it, and the status. */
const progressBar = (progress: Redelivery.Progress): string => {
  const { done, total } = progress
  const text = statusLine(progress)
  const columns = (stderr.columns || 80) - 1
  const width = Math.max(0, Math.min(24, columns - text.length - 1))
  const filled = total === undefined || total === 0 ? 0 : Math.floor(width * Math.min(1, done / total))
  return `${"█".repeat(filled)}${"░".repeat(width - filled)} ${text}`.trimStart().slice(0, columns)
}

/** Redraws a progress bar on a terminal; elsewhere prints a line every 5 seconds. */
const showProgress = (progress: SubscriptionRef.SubscriptionRef<Redelivery.Progress>) =>
  Effect.forever(Effect.delay(
    Effect.flatMap(progress, (now) =>
      Effect.sync(() =>
        void stderr.write(stderr.isTTY ? `\r\u001b[K${progressBar(now)}` : `${statusLine(now)}\n`)
      )),
    stderr.isTTY ? "100 millis" : "5 seconds"
  ))

/** Confirms Ctrl-C at once, because running calls may take seconds to end. */
const confirmInterrupt = Effect.acquireRelease(
  Effect.sync(() => {
    const confirm = () =>
      void stderr.write(
        `${stderr.isTTY ? "\r\u001b[K" : ""}Waiting up to 5 s for running calls; press Ctrl-C again to abort them\n`
      )
    process.once("SIGINT", confirm)
    return confirm
  }),
  (confirm) => Effect.sync(() => void process.off("SIGINT", confirm))
)

const clearLine = Effect.sync(() => void (stderr.isTTY && stderr.write("\r\u001b[K")))

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
    `${done} events in ${formatTime(elapsed)}${recalled === 0 ? "" : `, ${recalled} of them already known`}${
      stopped ? "; stopped early" : ""
    }`
  ].filter((text) => text !== "").join("\n")

const command = Command.make("redeliver-events", { ...options, streamId }, (args) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const directory = Option.getOrElse(args.journal, () => `redelivery-${encodeURIComponent(args.streamId)}`)
    const ids = Option.match(args.file, {
      onNone: () => idsFrom(NodeStream.stdin),
      onSome: (file) => idsFrom(fs.stream(file))
    })
    const total = Option.isNone(args.file) ? undefined : yield* Stream.runCount(ids)
    const progress = yield* Redelivery.makeProgress
    const results = Redelivery.run(ids, {
      stream: args.streamId,
      journal: yield* Node.journal(directory),
      concurrency: args.concurrency,
      dryRun: args.dryRun,
      repeat: args.repeatUnknown ? ["failed", "unknown"] : ["failed"],
      stopAfter: args.stopAfter,
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

    yield* confirmInterrupt
    if (!args.json) {
      yield* Effect.forkScoped(showProgress(progress))
    }
    yield* results.pipe(
      Stream.runForEach((result) => args.json ? Console.log(JSON.stringify(result)) : countReason(result)),
      Effect.ensuring(clearLine),
      Effect.onInterrupt(() =>
        Effect.zipRight(
          printSummary,
          Console.error(`Interrupted. Run the same command to resume; the journal is ${directory}`)
        )
      ),
      Effect.tapErrorTag("RunError", ({ reason }) =>
        Effect.zipRight(
          Effect.flatMap(progress, ({ done }) => args.json || done > 0 ? printSummary : Effect.void),
          reason === "streamNotFound"
            ? Effect.void
            : Console.error(`Run the same command to resume; the journal is ${directory}`)
        ))
    )
    yield* printSummary
    const { outcomes: { failed, invalid, unknown }, stopped } = yield* progress
    if (stopped || failed + invalid + unknown > 0) return yield* new Exited({ code: 3 })
  }).pipe(Effect.scoped, withClient)).pipe(
    Command.withDescription(HelpDoc.blocks([
      HelpDoc.p(
        "Redelivers failed events of a stream, each once. The results are kept in a directory: if the command is " +
          "interrupted or crashes, run it again to resume. It pauses while the service is unavailable, and ends after 5 minutes."
      ),
      exitCodes({
        3: "some events failed, are unknown or have invalid ids, or the command stopped early",
        130: "the command was interrupted; run it again to resume"
      })
    ]))
  )

runCommand("redeliver-events", command)

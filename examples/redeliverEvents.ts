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

const streamId = Args.text({ name: "stream-id" }).pipe(Args.withDescription("The id of the event stream"))

const options = {
  file: Options.file("file", { exists: "yes" }).pipe(
    Options.optional,
    Options.withDescription("Ids of events, one a line (default: the standard input)")
  ),
  journal: Options.directory("journal").pipe(
    Options.optional,
    Options.withDescription("Where to write down what was done (default: redelivery-STREAM_ID)")
  ),
  concurrency: Options.integer("concurrency").pipe(
    Options.withDefault(10),
    Options.withDescription("How many events are sent at the same time (default: 10)")
  ),
  stopAfter: Options.integer("stop-after").pipe(
    Options.optional,
    Options.withDescription("Stops after so many failures")
  ),
  repeatUnknown: Options.boolean("repeat-unknown").pipe(
    Options.withDescription("Sends events again that may have been accepted: they may be delivered twice")
  ),
  dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Sends nothing and says what would be sent")),
  json: Options.boolean("json").pipe(Options.withDescription("A line of JSON for each result, and one for the summary"))
}

/** Ids, one a line; blank lines and what follows a # are left out. */
const idsFrom = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) =>
  bytes.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.map((line) => line.replace(/#.*/, "").trim()),
    Stream.filter((line) => line !== "")
  )

const time = (duration: Duration.Duration | undefined) =>
  duration === undefined ? "?" : Duration.format(Duration.seconds(Math.ceil(Duration.toSeconds(duration))))

const line = ({ done, outcomes, rate, remaining, total }: Redelivery.Progress): string => {
  const trouble = outcomes.failed + outcomes.unknown
  return `${done}${total === undefined ? "" : ` of ${total}`}, ${rate.toFixed(0)}/s, ${time(remaining)} left` +
    (trouble === 0 ? "" : `, ${trouble} failed or unknown`)
}

/** As long as there is room for it beside what it says. */
const bar = (progress: Redelivery.Progress): string => {
  const { done, total } = progress
  const text = line(progress)
  const columns = (stderr.columns || 80) - 1
  const width = Math.max(0, Math.min(24, columns - text.length - 1))
  const filled = total === undefined || total === 0 ? 0 : Math.floor(width * Math.min(1, done / total))
  return `${"█".repeat(filled)}${"░".repeat(width - filled)} ${text}`.trimStart().slice(0, columns)
}

/** A bar that is drawn again and again on a terminal, a line now and then elsewhere. */
const show = (progress: SubscriptionRef.SubscriptionRef<Redelivery.Progress>) =>
  Effect.forever(Effect.delay(
    Effect.flatMap(progress, (now) =>
      Effect.sync(() => void stderr.write(stderr.isTTY ? `\r\u001b[K${bar(now)}` : `${line(now)}\n`))),
    stderr.isTTY ? "100 millis" : "5 seconds"
  ))

/** Says at once that a Ctrl-C was heard: those being sent may take some seconds to end. */
const hear = Effect.acquireRelease(
  Effect.sync(() => {
    const say = () =>
      void stderr.write(`${stderr.isTTY ? "\r\u001b[K" : ""}Ending, in 5 s at the most; Ctrl-C cuts it off\n`)
    process.once("SIGINT", say)
    return say
  }),
  (say) => Effect.sync(() => void process.off("SIGINT", say))
)

const clear = Effect.sync(() => void (stderr.isTTY && stderr.write("\r\u001b[K")))

const meanings: Readonly<Record<Redelivery.Outcome, string>> = {
  accepted: "will be delivered again",
  notFailed: "had not failed, or not any more",
  gone: "there is no such event",
  invalid: "no id of an event",
  unknown: "may have been accepted; look before you repeat them",
  failed: "not accepted; run again to try them once more",
  due: "would be sent"
}

/** How often there was which reason, for as many as fit a screen. */
const reasons = (counts: ReadonlyMap<string, number>): string => {
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  return [
    ...sorted.slice(0, 10).map(([reason, count]) => `${count} times ${reason}`),
    ...(sorted.length > 10 ? [`and ${sorted.length - 10} other reasons; --json has them all`] : [])
  ].join("\n")
}

const summary = ({ done, elapsed, outcomes, recalled, stopped }: Redelivery.Progress): string =>
  [
    table(
      Redelivery.outcomes.filter((outcome) => outcomes[outcome] > 0).map((
        outcome
      ) => [outcome, outcomes[outcome], meanings[outcome]])
    ),
    `${done} events in ${time(elapsed)}${recalled === 0 ? "" : `, ${recalled} of them known before`}${
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
      stopWhen: ({ outcomes }) => Option.exists(args.stopAfter, (limit) => outcomes.failed >= limit),
      total,
      progress
    })
    const why = new Map<string, number>()
    const note = ({ error, outcome }: Redelivery.Result) =>
      Effect.sync(() => {
        if (error === undefined || (outcome !== "failed" && outcome !== "unknown")) return
        const reason = `${outcome}: ${error.message}`
        if (why.has(reason) || why.size < 1000) why.set(reason, (why.get(reason) ?? 0) + 1)
      })
    const say = Effect.flatMap(progress, (now) =>
      Console.log(
        args.json
          ? JSON.stringify({ done: now.done, recalled: now.recalled, stopped: now.stopped, ...now.outcomes })
          : [summary(now), reasons(why)].filter((text) => text !== "").join("\n")
      ))

    yield* hear
    if (!args.json) {
      yield* Effect.forkScoped(show(progress))
    }
    yield* results.pipe(
      Stream.runForEach((result) => args.json ? Console.log(JSON.stringify(result)) : note(result)),
      Effect.ensuring(clear),
      Effect.onInterrupt(() =>
        Effect.zipRight(say, Console.error(`Interrupted. The same command resumes it; its journal is ${directory}`))
      )
    )
    yield* say
    const { outcomes: { failed, invalid, unknown }, stopped } = yield* progress
    if (stopped || failed + invalid + unknown > 0) return yield* new Exited({ code: 3 })
  }).pipe(Effect.scoped, withClient)).pipe(
    Command.withDescription(HelpDoc.blocks([
      HelpDoc.p(
        "Asks for failed events of a stream to be delivered once more, each once. What was done is written down in a directory: " +
          "whatever ends the command, the same command goes on where it was."
      ),
      exitCodes({
        3: "some events failed, are unknown or no ids, or it stopped early",
        130: "interrupted; it can be resumed"
      })
    ]))
  )

runCommand("redeliver-events", command)

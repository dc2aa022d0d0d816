/** `redeliver --one-call`: asks the service once to redeliver all that match, and follows what becomes of each event. */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Deliveries from "../../Deliveries.js"
import { failures } from "../../internal/deliveries/failures.js"
import type { Delivery } from "../../operations/listDeliveries.js"
import * as Redelivery from "../../Redelivery.js"
import { confirm } from "../shared/confirm.js"
import { deliveryLine, fixedLine } from "../shared/deliveryLine.js"
import { Exited } from "../shared/exit.js"
import * as ProgressBar from "../shared/progressBar.js"
import { type Output, Stdio } from "../shared/stdio.js"
import { counted, jsonLine, table } from "../shared/text.js"

interface Settings {
  readonly stream: string
  readonly eventTypes: ReadonlyArray<string>
  readonly from: string | undefined
  readonly to: string | undefined
  readonly deliveredAfter: number | undefined
  readonly followFor: number | undefined
  readonly yes: boolean
  readonly dryRun: boolean
  readonly json: boolean
}

/** The seconds that are used without the options. */
export const defaults = { deliveredAfter: 60, followFor: 600 }

/** The deliveries that match, as they are shown: the first ones, and the number of all. */
interface Matched {
  readonly count: number
  readonly first: ReadonlyArray<Delivery>
}

const shownAtMost = 10

const add = ({ count, first }: Matched, delivery: Delivery): Matched => ({
  count: count + 1,
  first: count < shownAtMost ? [...first, delivery] : first
})

const shown = ({ count, first }: Matched, output: Output): string =>
  [
    ...first.map(deliveryLine(output)),
    ...(count > first.length ? [`and ${count - first.length} more`] : [])
  ].join("\n")

const statusOf = ({ done, outcomes, request, total }: Redelivery.FilteredProgress, seconds: number) => ({
  done,
  total,
  text: request === undefined ?
    "waiting for the call" :
    `${done} of ${total} have a result${
      outcomes.failedAgain === 0 ? "" : `, ${outcomes.failedAgain} failed again`
    }, followed for ${ProgressBar.formatTime(Duration.seconds(seconds))}`
})

const meanings: Readonly<Record<Redelivery.FilteredOutcome, string>> = {
  delivered: "no longer among the failed ones",
  failedAgain: "failed with a new attempt",
  pending: "no result so far; check again later with deliveries"
}

const summary = ({ done, elapsed, outcomes }: Redelivery.FilteredProgress): string =>
  [
    table(
      Redelivery.filteredOutcomes.filter((outcome) => outcomes[outcome] > 0).map((outcome) => [
        outcome,
        outcomes[outcome],
        meanings[outcome]
      ])
    ),
    `${counted(done, "event")} in ${ProgressBar.formatTime(elapsed)}`
  ].filter((text) => text !== "").join("\n")

const resultLine = (output: Output, { error = "", id, outcome }: Redelivery.FilteredResult): string =>
  fixedLine(output, [id.padEnd(26), outcome.padEnd(11), error])

/** Says what the service does although the command has ended. */
const whatGoesOn = ({ request, total }: Redelivery.FilteredProgress, stream: string): string => {
  const later = `effect-identity-client deliveries ${stream} lists what is still failed.`
  return total === undefined || total === 0
    ? "Nothing was sent."
    : request === "accepted"
    ? `The service goes on with the redelivery of all events: ${later}`
    : `The service may have accepted the redelivery, and then goes on with it: ${later}`
}

/** Lists what matches, asks, and follows the redelivery, all with this client. */
export const redeliverWithOneCall = (
  {
    deliveredAfter = defaults.deliveredAfter,
    dryRun,
    eventTypes,
    followFor = defaults.followFor,
    from,
    json,
    stream,
    to,
    yes
  }: Settings
) =>
  Effect.gen(function*() {
    const { errorOutput, output } = yield* Stdio
    const filter = { eventTypes: eventTypes.length === 0 ? undefined : eventTypes, from, to }
    const progress = yield* Redelivery.makeFilteredProgress
    const printDue = (delivery: Delivery) =>
      !dryRun
        ? Effect.void
        : Console.log(
          json
            ? jsonLine({ id: delivery.id, outcome: "due", attempts: failures(delivery).length })
            : deliveryLine(output)(delivery)
        )
    const printSummary = (now: Redelivery.FilteredProgress, due?: number) =>
      Console.log(
        json
          ? jsonLine({ done: now.done, total: now.total, request: now.request, ...now.outcomes, due })
          : summary(now)
      )

    yield* Effect.gen(function*() {
      const matched = yield* Deliveries.failed(stream, filter).pipe(
        Stream.tap(printDue),
        Stream.runFold<Matched, Delivery>({ count: 0, first: [] }, add)
      )
      const { count } = matched
      if (dryRun) {
        return yield* json
          ? printSummary({ ...yield* progress, done: count, total: count }, count)
          : Console.log(`${counted(count, "failed event")} would be sent`)
      }
      if (count === 0) {
        return yield* json
          ? printSummary({ ...yield* progress, total: 0 })
          : Console.log("Nothing matches.")
      }
      yield* Console.error(shown(matched, errorOutput))
      if (!(yield* confirm(`Redeliver ${counted(count, "failed event")}?`, yes))) {
        yield* Console.error("Nothing was sent.")
        return yield* new Exited({ code: 1 })
      }
      const begin = yield* Clock.currentTimeNanos // goes on evenly, also if the time of day is set
      const status = Effect.zipWith(progress, Clock.currentTimeNanos, (now, time) =>
        statusOf(now, Number(time - begin) / 1e9))
      yield* Effect.scoped(Effect.gen(function*() {
        if (!json) {
          yield* ProgressBar.show(status)
        }
        yield* Redelivery.runFiltered({
          stream,
          filter,
          deliveredAfter: Duration.seconds(deliveredAfter),
          followFor: Duration.seconds(followFor),
          progress
        }).pipe(
          Stream.runForEach((result) =>
            json
              ? Console.log(jsonLine(result))
              : Effect.zipRight(ProgressBar.clearLine, Console.log(resultLine(output, result)))
          )
        )
      })).pipe(
        Effect.onInterrupt(() =>
          Effect.flatMap(progress, (now) =>
            printSummary(now))
        ),
        // Before the call, nothing goes on.
        Effect.tapError(() =>
          Effect.flatMap(progress, (now) =>
            now.request === undefined ? Effect.void : Console.error(whatGoesOn(now, stream)))
        )
      )
      const now = yield* progress
      yield* printSummary(now)
      if (now.outcomes.failedAgain + now.outcomes.pending > 0) {
        return yield* new Exited({ code: 3 })
      }
    }).pipe(
      Effect.onInterrupt(() =>
        Effect.flatMap(progress, (now) =>
          Console.error(`Interrupted. ${whatGoesOn(now, stream)}`))
      )
    )
  })

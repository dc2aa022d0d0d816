/** Redelivers the events of a file, one id per line: `npx tsx examples/redeliverEvents.ts est_… ids.txt journal` */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Data, Effect, Stream } from "effect"
import { Redelivery } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import { run } from "./support/script.js"

const usage = "redeliverEvents STREAM_ID FILE JOURNAL_DIRECTORY"

/** Events without a redelivery, so that the exit code says so, too. */
class NotAllRedelivered extends Data.TaggedError("NotAllRedelivered")<{ readonly message: string }> {}

run(
  { usage, positionals: 3, options: {} },
  ({ positionals: [stream = "", file = "", directory = ""] }) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const ids = fs.stream(file).pipe(Stream.decodeText(), Stream.splitLines, Stream.filter((id) => id !== ""))
      // Run it again after a crash: no event is sent twice.
      const journal = yield* Node.journal(directory)
      const progress = yield* Redelivery.makeProgress
      yield* Redelivery.run(ids, { stream, journal, progress }).pipe(
        Stream.runForEach(({ error, id, outcome }) =>
          Console.log(`${id}: ${outcome}${outcome === "failed" || outcome === "unknown" ? `, ${error?.message}` : ""}`)
        )
      )
      const { outcomes: { failed, invalid, unknown }, stopped } = yield* progress
      if (failed + invalid + unknown === 0 && !stopped) return
      const early = stopped ? ", and the run has stopped early" : ""
      return yield* new NotAllRedelivered({
        message: `${failed} failed, ${unknown} may have been accepted, ${invalid} are not ids${early}`
      })
    }).pipe(Effect.provide(NodeContext.layer))
)

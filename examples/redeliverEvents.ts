/** Redelivers the events of a file, one id per line: `npx tsx examples/redeliverEvents.ts est_… ids.txt journal` */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Console, Effect, Stream } from "effect"
import { Redelivery } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import { run } from "./support/script.js"

const usage = "redeliverEvents STREAM_ID FILE JOURNAL_DIRECTORY"

run(
  { usage, positionals: 3, options: {} },
  ({ positionals: [stream = "", file = "", directory = ""] }) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const ids = fs.stream(file).pipe(Stream.decodeText(), Stream.splitLines, Stream.filter((id) => id !== ""))
      // Run it again after a crash: no event is sent twice.
      const journal = yield* Node.journal(directory)
      yield* Redelivery.run(ids, { stream, journal }).pipe(
        Stream.runForEach(({ id, outcome }) => Console.log(`${id}: ${outcome}`))
      )
    }).pipe(Effect.provide(NodeContext.layer))
)

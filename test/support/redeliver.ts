/** Redelivers a number of events with a journal, and prints a line per result. Tests bundle this program, run it twice at once, and kill it. */
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Stream from "effect/Stream"
import * as Node from "../../src/Node.js"
import * as Redelivery from "../../src/Redelivery.js"

const [, , stream = "", directory = "", count = "", lockExpiry = "15000"] = process.argv

const ids = Array.from({ length: Number(count) }, (_, nth) => `evt_${String(nth).padStart(22, "0")}`)

void Effect.runPromise(
  Effect.flatMap(
    Node.journal(directory),
    (journal) =>
      Stream.runForEachChunk(
        Redelivery.run(ids, { stream, journal, lockExpiry: Number(lockExpiry) }),
        (results) =>
          Effect.sync(() =>
            void process.stdout.write(
              Array.from(results, ({ id, outcome }) => `${id} ${outcome}\n`).join("")
            )
          )
      )
  ).pipe(Effect.provide(Node.layerConfig), Logger.withMinimumLogLevel(LogLevel.None))
)

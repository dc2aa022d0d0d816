/**
 * `npm run bench:journal`: what a journal adds to the redelivery of an event. Compares `Node.journal`, which syncs each entry to
 * disk, with the platform's key-value store in files, which does not, and with no journal. The client is a mock that responds at
 * once, so the rest of a row is the journal. `--quick` redelivers fewer events.
 */
import { KeyValueStore } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as Node from "../../src/Node.js"
import { redeliverEvent } from "../../src/operations/index.js"
import * as Redelivery from "../../src/Redelivery.js"
import * as Testing from "../../src/Testing.js"
import { save } from "./results.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})

const events = quick ? 100 : 500
const rounds = quick ? 3 : 7

const ids = Array.from({ length: events }, (_, nth) => `evt_${String(nth).padStart(22, "0")}`)

/** The journals, each in an empty directory. */
const journals = {
  "no journal": () => Effect.succeed(undefined),
  "files, not synced": (directory: string) =>
    Effect.provide(KeyValueStore.KeyValueStore, KeyValueStore.layerFileSystem(directory)),
  "Node.journal": Node.journal
}

type Kind = keyof typeof journals

const kinds = Object.keys(journals) as ReadonlyArray<Kind> // sound: an object literal has no other keys

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "journal-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Redelivers all events. Returns the milliseconds per event. */
const measure = (kind: Kind, concurrency: number) =>
  Effect.gen(function*() {
    const journal = yield* journals[kind](yield* directory)
    const begin = performance.now()
    const accepted = yield* Redelivery.run(ids, { stream: "est_0000000000000000000001", concurrency, journal }).pipe(
      Stream.filter(({ outcome }) => outcome === "accepted"),
      Stream.runCount
    )
    if (accepted !== events) return yield* Effect.dieMessage(`${kind}: ${accepted} of ${events} events are accepted`)
    return (performance.now() - begin) / events
  }).pipe(Effect.scoped)

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN

const program = Effect.gen(function*() {
  yield* Effect.forEach(kinds, (kind) => measure(kind, 10)) // V8 compiles the hot code
  const lines = [
    `${events} events, median of ${rounds} rounds: milliseconds per event`,
    `concurrency${kinds.map((kind) => kind.padStart(20)).join("")}`
  ]
  const rows: Array<{ concurrency: number; millisPerEvent: number; toUnsyncedFiles: number }> = []
  for (const concurrency of [1, 10, 50]) {
    const times = new Map<Kind, Array<number>>(kinds.map((kind) => [kind, []]))
    for (let round = 0; round < rounds; round++) {
      for (const kind of kinds) times.get(kind)?.push(yield* measure(kind, concurrency))
    }
    const medians = kinds.map((kind) => median(times.get(kind) ?? []))
    lines.push(`${String(concurrency).padStart(11)}${medians.map((value) => value.toFixed(3).padStart(20)).join("")}`)
    const [none = NaN, files = NaN, synced = NaN] = medians
    rows.push({
      concurrency,
      millisPerEvent: Number((synced - none).toFixed(3)),
      toUnsyncedFiles: Number((synced / files).toFixed(2))
    })
  }
  console.log(`${lines.join("\n")}\n\n${JSON.stringify({ rows })}`)
  save(
    "journal.txt",
    [
      "concurrency   a journal adds, ms per event",
      ...rows.map(({ concurrency, millisPerEvent }) =>
        `${String(concurrency).padStart(11)}${millisPerEvent.toFixed(1).padStart(31)}`
      )
    ].join("\n")
  )
})

program.pipe(
  Effect.provide(Layer.merge(Testing.layer(Testing.handle(redeliverEvent, () => Effect.void)), NodeContext.layer)),
  NodeRuntime.runMain
)

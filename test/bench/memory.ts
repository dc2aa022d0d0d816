/**
 * `npm run bench:memory`: 100,000 versions of 5 KB code each, 2,000 pages of 50, over a socket: how much more memory than for
 * the first page the stream of them needs, and how fast it is beside page after page by hand. The server and both clients
 * are processes of their own; by hand goes half before and half after. `--quick` has fewer pages.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type { Job, Ready, Report } from "./memory/client.js"
import { perPage } from "./memory/pages.js"
import type { Listening } from "./memory/server.js"
import { bundle } from "./processes.js"

const { values: { quick } } = parseArgs({ options: { quick: { type: "boolean", default: false } } })

const pages = quick ? 600 : 2000

const program = Effect.gen(function*() {
  const start = yield* bundle(join(import.meta.dirname, "memory"), ["server", "ours", "undici"])
  const { first: { origin } } = yield* start<Listening, never, never>({ program: "server", argument: String(pages) })
  const ours = yield* start<Ready, Job, Report>({ program: "ours", argument: origin })
  const byHand = yield* start<Ready, Job, Report>({ program: "undici", argument: origin })
  const before = yield* byHand.ask({ pages: pages / 2 })
  const stream = yield* ours.ask({ pages })
  const after = yield* byHand.ask({ pages: pages / 2 })
  const hand: Report = {
    versions: before.versions + after.versions,
    millis: before.millis + after.millis,
    cpuMillis: before.cpuMillis + after.cpuMillis,
    peakMb: after.peakMb
  }
  console.log("          versions   versions/s   CPU us each   one page MB   first page MB   peak MB")
  for (
    const [name, { first }, { cpuMillis, millis, peakMb, versions }] of [["by hand", byHand, hand], [
      "stream",
      ours,
      stream
    ]] as const
  ) {
    const cells = [
      [versions, 10],
      [versions / millis * 1000, 13],
      [cpuMillis * 1000 / versions, 14],
      [first.onceMb, 14],
      [first.firstMb, 16],
      [peakMb, 10]
    ] as const
    console.log(`${name.padEnd(8)}${cells.map(([value, width]) => value.toFixed(0).padStart(width)).join("")}`)
  }
  if (stream.versions !== pages * perPage || hand.versions !== stream.versions) {
    return yield* Effect.dieMessage("a client has not seen all versions")
  }
  console.log(`\n${
    JSON.stringify({
      rssGrowthMb: Math.round(stream.peakMb - ours.first.firstMb),
      throughputRatio: Number((hand.millis / stream.millis).toFixed(2))
    })
  }`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(program)

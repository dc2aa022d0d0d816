import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { fork } from "node:child_process"
import * as Exports from "./src/Exports.js"
import { getJob } from "./src/index.js"
import * as Node from "./src/Node.js"
import * as Testing from "./src/Testing.js"
const child = fork("./test/bench/export/server.ts", ["100000"], { execArgv: ["--import", "tsx"] })
const only = process.argv[2]
child.once("message", async ({ origin }: any) => {
  const layer = Layer.merge(
    Testing.layer(
      Testing.handle(
        getJob,
        () => Effect.succeed({ id: "x", type: "users_export", status: "completed", location: origin + "/ndjson.gz" })
      )
    ),
    Node.layerHttpClient()
  )
  const visit = (row: any) => {
    if (typeof row.user_id !== "string") throw new Error("x")
  }
  const hand = async () => {
    const { body } = await fetch(`${origin}/ndjson.gz`)
    const bytes = body!.pipeThrough(new DecompressionStream("gzip"))
    const decoder = new TextDecoder()
    const reader = bytes.getReader()
    let rest = ""
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) visit(JSON.parse(line))
    }
  }
  const ours = () =>
    Effect.runPromise(
      Exports.run({ format: "json" }, { job: "x" }).pipe(
        Stream.runForEachChunk((rows) =>
          Effect.sync(() => {
            for (const row of rows) visit(Either.getOrThrow(row))
          })
        ),
        Effect.provide(layer)
      ) as any
    )
  const all: any = { hand: [], ours: [] }
  for (let i = 0; i < 24; i++) {
    for (const [name, f] of [["hand", hand], ["ours", ours]] as const) {
      if (only && only !== name) continue
      const t = performance.now()
      const c = process.cpuUsage()
      await f()
      const u = process.cpuUsage(c)
      if (i > 5) all[name].push([performance.now() - t, (u.user + u.system) / 1000 / 100])
    }
  }
  const med = (x: number[]) => x.sort((a, b) => a - b)[x.length >> 1]
  for (const n in all) {
    if (all[n].length) {
      console.log(
        n,
        med(all[n].map((x: any) => x[0])).toFixed(0),
        "ms",
        med(all[n].map((x: any) => x[1])).toFixed(2),
        "us cpu",
        Math.min(...all[n].map((x: any) => x[0])).toFixed(0),
        "min ms"
      )
    }
  }
  child.kill()
})

/** Runs a command of the guide as it stands there, and gives its screen with what differs from run to run replaced. */
import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import { TenantLive } from "../../../examples/tour.js"
import * as Tenant from "../../../src/Tenant.js"
import { run } from "./run.js"

const { streams: [stream] } = Tenant.demo

/** Replaces times, ids of jobs, ports and keys. Followed events are listed 2 s and 6 s after the call. */
export const plain = (screen: string): string =>
  screen
    .replace(/job_\w{16}/g, "job_iUTiASmuQ41FqiX6")
    .replace(
      /events in \w+(?: \w+)*(?=,|\n|$)/g,
      screen.includes("--delivered-after 3") ? "events in 7s" : "events in 1s"
    )
    .replace(/(#key=|_KEY=)\w{32}/g, "$1k3p9d0a7s2vqm1h8c5t4n6r0jb2fgu1e")
    .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:8787")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}(?=\S)/g, "2026-01-31T22:00:00Z  ")
    .trimEnd()

/** The screen of `npx effect-identity-client …` against a new demo tenant. Files are in a folder that is removed afterwards. */
export const screenOf = (line: string): Effect.Effect<string, unknown> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    const inFolder = (name: string) => /^(?:users\.|ids\.|redelivery)/.test(name) ? join(folder, name) : name
    const [first, second, queued] = stream.events
    yield* fs.writeFileString(
      join(folder, "ids.txt"),
      [first.id, second.id, queued.id, "nonsense", first.id].join("\n")
    )
    const args = line.replace(/^\$ effect-identity-client ?/, "").split(" ").filter((arg) => arg !== "")
    const isServer = args[0] === "tenant" && args[1] !== "--help"
    let screen = `${line}\n`
    yield* run([...args.map(inFolder), ...(isServer ? ["--port", "0"] : [])], {
      onWrite: (text) => {
        screen += text
      },
      ...(isServer && { interruptAfter: "Ctrl-C to stop" }),
      ...((args[0] === "deliveries" && args[1] !== "--help" || args.includes("--one-call")) && { columns: 80 })
    })
    return plain(screen.replaceAll(`${folder}/`, ""))
  }).pipe(Effect.scoped, Effect.provide([TenantLive, NodeContext.layer]))

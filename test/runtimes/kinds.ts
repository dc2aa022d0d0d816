/** The runtimes, with their programs, bundles and command lines. */
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { executable } from "../support/chromium.js"
import { binary } from "./packages.js"

/** Runtime and transport that the suite runs on. */
export interface Kind {
  /** Row of the table. */
  readonly name: string
  readonly program: string | undefined
  readonly entry: "fetch" | "lean" | "deno" | "worker" | "browser"
  /** Arguments of the program, before the file; a worker has a configuration instead. */
  readonly flags: ReadonlyArray<string>
  /** Export conditions of packages for this runtime. */
  readonly conditions: ReadonlyArray<string>
}

const node = (major: number): ReadonlyArray<Kind> => {
  const own = process.versions.node.startsWith(`${major}.`) ? process.execPath : undefined // if its package is not installed
  const program = binary(`node${major}`, "bin/node") ?? own
  const of = (entry: "fetch" | "lean"): Kind => (
    { name: `Node ${major}, ${entry}`, program, entry, flags: [], conditions: ["node"] }
  )
  return [of("lean"), of("fetch")]
}

/** Returns all runtimes, as installed. */
export const kinds = (): ReadonlyArray<Kind> => [
  ...[20, 22, 24].flatMap(node),
  { name: "Bun, fetch", program: binary("bun", "bin/bun"), entry: "fetch", flags: ["run"], conditions: ["bun"] },
  ...([["Deno, fetch", "fetch"], ["Deno, no pool", "deno"]] as const).map(([name, entry]): Kind => ({
    name,
    program: binary("deno", "deno"),
    entry,
    flags: ["run", "--quiet", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env"],
    conditions: ["deno"]
  })),
  {
    name: "workerd, fetch",
    program: binary("workerd", "bin/workerd"),
    entry: "worker",
    flags: [],
    conditions: ["workerd", "worker"]
  },
  {
    name: "Chromium, fetch",
    program: executable(),
    entry: "browser",
    flags: ["--disable-web-security"], // the servers allow no other origin: pages of other sites have no access to a tenant either
    conditions: ["browser"]
  }
]

/** Bundles an entry for a runtime. Only the lean transport for Node may import Node's modules. */
export const bundle = async (
  file: string,
  { conditions, entry }: Pick<Kind, "conditions" | "entry">,
  outfile: string
) => {
  const isLean = entry === "lean"
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    external: ["esbuild"], // imported by the tenant's pages only
    format: "esm",
    target: "es2022",
    platform: isLean ? "node" : "neutral",
    mainFields: ["module", "main"],
    conditions: [...conditions, "import", "module"],
    ...(isLean && {
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }
    }),
    logLevel: "error"
  })
}

/** Writes a configuration for workerd: the module listens on a free port and may call servers on this machine. */
const configuration = (file: string, env: Readonly<Record<string, string>>): string =>
  `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed ${JSON.stringify(file)})],
      compatibilityDate = "2026-01-01",
      bindings = [${
    Object.entries(env).map(([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`).join(
      ", "
    )
  }]
    )),
    (name = "internet", network = (allow = ["private"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
`

/** Waits for a process to exit. Resolves to its exit code or signal. */
export const exitOf = (child: ChildProcess): Promise<number | string> =>
  new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => resolve(code ?? signal ?? "nothing"))
  })

/** Starts a worker. Resolves to its URL once it listens, which it must do within 20 seconds. */
export const startWorker = async (
  program: string,
  directory: string,
  name: string,
  env: Readonly<Record<string, string>>
): Promise<{ readonly child: ChildProcess; readonly url: string }> => {
  const file = join(directory, `${name}.capnp`)
  writeFileSync(file, configuration(`${name}.js`, env))
  // workerd reports its port on a separate file descriptor.
  const child = spawn(program, ["serve", "--control-fd=3", file], { stdio: ["ignore", "ignore", "pipe", "pipe"] })
  const control = child.stdio[3] as Readable // sound: a pipe
  let errors = ""
  child.stderr?.on("data", (text: Buffer) => void (errors += text.toString()))
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000)
  const url = await new Promise<string>((resolve, reject) => {
    let output = ""
    control.on("data", (text: Buffer) => {
      output += text.toString()
      const port = /"port":(\d+)/.exec(output)?.[1]
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
    })
    child.once("error", reject)
    child.once("close", (code, signal) => reject(new Error(`workerd exited with ${code ?? signal}: ${errors.trim()}`)))
  }).finally(() => clearTimeout(timer))
  return { child, url }
}

/**
 * `npm run bench:start`: measures whole processes, alternately: the time to import the library compared with the platform's
 * modules that it needs and with the vendor's SDK, the time of a bundled script of one call compared with the vendor's SDK and with bare `fetch`, and
 * the command line, whose `--version` is compared with bare Node, and whose `versions` with the bundled script of the SDK; and
 * sizes: of these scripts with all that is in them, and of what the library adds to a bundle. `--quick` starts fewer processes, `--save` keeps the table.
 */
import { build } from "esbuild"
import { execFile } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { basename, join } from "node:path"
import { parseArgs, promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { buildCommandLine } from "../../.ci/build/commandLine.js"
import { buildJavascript } from "../../.ci/build/javascript.js"
import { actionId, responseBodies } from "./calls/payloads.js"
import { save } from "./results.js"
import { modulesOf, overPlatform } from "./start/sizes.js"

const { values: { quick } } = parseArgs({
  options: { quick: { type: "boolean", default: false }, save: { type: "boolean" } }
})
const rounds = quick ? 7 : 25
const root = join(import.meta.dirname, "../..")
// Inside the project, so that its dependencies resolve.
const directory = join(root, "node_modules", `.bench-start-${process.pid}`)

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN

const measured = (imports: ReadonlyArray<string>): string =>
  [
    "const begin = performance.now()",
    `await Promise.all([${imports.map((name) => `import(${JSON.stringify(name)})`).join(", ")}])`,
    "console.log(JSON.stringify([performance.now() - begin, process.memoryUsage().rss / 1e6]))"
  ].join("\n")

const run = promisify(execFile)

/** Runs scripts alternately. Returns the output and the total time of each script in every round. */
const runAlternately = async (scripts: ReadonlyArray<ReadonlyArray<string>>, env: NodeJS.ProcessEnv = process.env) => {
  const results = scripts.map((): Array<{ readonly millis: number; readonly output: string }> => [])
  for (let round = -1; round < rounds; round++) {
    for (const [index, script] of scripts.entries()) {
      const startedAt = performance.now()
      const { stdout } = await run(process.execPath, [...script], { env })
      // The first round only fills the disk cache.
      if (round >= 0) results[index]?.push({ millis: performance.now() - startedAt, output: stdout })
    }
  }
  return results
}

const imported = async () => {
  const modules = modulesOf(readFileSync(join(root, "src/index.ts"), "utf8").replaceAll("\"./", "\"../../../src/"))
  const scripts = { platform: modules, ours: [...modules, "./dist/index.js"], sdk: ["auth0"] }
  const files = Object.entries(scripts).map(([name, imports]) => {
    const file = join(directory, `import-${name}.mjs`)
    writeFileSync(file, measured(imports))
    return [file]
  })
  const figures = (await runAlternately(files)).map((rounds) =>
    rounds.map(({ output }) => JSON.parse(output) as [millis: number, megabytes: number])
  )
  return figures.map((some) => ({
    millis: median(some.map(([millis]) => millis)),
    megabytes: median(some.map(([, megabytes]) => megabytes))
  }))
}

const started = async () => {
  const names = ["ours", "auth0", "fetch"]
  await build({
    entryPoints: names.map((name) => join(import.meta.dirname, "start", `${name}.ts`)),
    outdir: directory,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    logLevel: "error"
  })
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(responseBodies.small))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // sound: the server listens on TCP
  const scripts = names.map((name) => [join(directory, `${name}.mjs`), `http://127.0.0.1:${port}`, actionId])
  // `versions` asks for no token either.
  const env = {
    PATH: process.env["PATH"],
    IDENTITY_BASE_URL: `http://127.0.0.1:${port}/api/v2`,
    IDENTITY_TOKEN: "a-token"
  }
  const binary = join(directory, "dist/cli/bin.js")
  const commands = [["-e", "0"], [binary, "--version"], [binary, "versions", actionId]]
  const results = await runAlternately([...scripts, ...commands], env)
  server.close()
  const outputs = results.map((rounds) => rounds.map(({ output }) => output.trim()))
  const expected = [/^1$/, /^1$/, /^1$/, /^$/, /^\d+\.\d+\.\d+$/, /^# .*\n/]
  if (outputs.some((texts, index) => texts.some((text) => expected[index]?.test(text) !== true))) {
    throw new Error("unexpected output of a script")
  }
  const millis = results.map((rounds) => median(rounds.map(({ millis }) => millis)))
  const [node = NaN, version = NaN, versions = NaN] = millis.slice(names.length)
  return {
    scripts: names.map((name, index) => ({
      millis: millis[index] ?? NaN,
      kilobytes: gzipSync(readFileSync(join(directory, `${name}.mjs`)), { level: 9 }).length / 1000
    })),
    node,
    version,
    versions
  }
}

/** Rewrites a script to import the published modules instead of the sources. */
const published = (code: string): string =>
  code.replaceAll("../../../src/", `../../../node_modules/${basename(directory)}/dist/`)

const one = readFileSync(join(import.meta.dirname, "start/ours.ts"), "utf8")

const all = `import * as library from "../../../src/index.js"\nglobalThis["library"] = library`

mkdirSync(directory, { recursive: true })
// As in the library's own package.json. Without `type`, Node would parse each file twice to detect its format.
writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module", version: "0.0.0", sideEffects: [] }))
try {
  await buildJavascript(join(directory, "dist"))
  await buildCommandLine(join(directory, "dist"))
  const unmeasured = { millis: NaN, megabytes: NaN }
  const [platformImport = unmeasured, ourImport = unmeasured, sdkImport = unmeasured] = await imported()
  const none = { millis: NaN, kilobytes: NaN }
  const { node, scripts: [ours = none, sdk = none, bare = none], version, versions } = await started()
  const [oneKb, allKb] = [overPlatform(published(one)), overPlatform(published(all))]
  const toSdk = ({ millis }: typeof none) => (millis / sdk.millis).toFixed(2)
  const shown = ({ megabytes, millis }: typeof unmeasured) => `${millis.toFixed(0)} ms, ${megabytes.toFixed(0)} MB`
  const importOver = (other: typeof unmeasured) => ourImport.millis / other.millis
  const table = `import      the platform's modules               ${shown(platformImport)}
            with the library                     ${shown(ourImport)}: ${importOver(platformImport).toFixed(2)} times
            the vendor's SDK                     ${shown(sdkImport)}: ours takes ${
    importOver(sdkImport).toFixed(2)
  } times as long
bundled     a script of one call                 ${ours.millis.toFixed(0)} ms
            the same with the vendor's SDK       ${sdk.millis.toFixed(0)} ms: ${toSdk(ours)} of the SDK's
            with bare fetch                      ${bare.millis.toFixed(0)} ms: ${toSdk(bare)} of the SDK's
command     bare Node, \`node -e 0\`               ${node.toFixed(0)} ms
            \`--version\`                          ${version.toFixed(0)} ms: ${
    (version / node).toFixed(2)
  } of bare Node's
            \`versions ID\`                        ${versions.toFixed(0)} ms: ${
    (versions / sdk.millis).toFixed(2)
  } of the SDK's script
size        the script of one call               ${ours.kilobytes.toFixed(1)} kB with all that is in it (min+gzip)
            the same with the vendor's SDK       ${sdk.kilobytes.toFixed(1)} kB
            with bare fetch                      ${bare.kilobytes.toFixed(1)} kB
            one operation                        ${oneKb.toFixed(1)} kB without the platform's modules
            the whole library                    ${allKb.toFixed(1)} kB without the platform's modules (min+gzip)`
  console.log(`Whole processes, run alternately; the median of ${rounds} rounds\n\n${table}\n`)
  save("start.txt", table)
  const rounded = (value: number, digits: number) => Number(value.toFixed(digits))
  console.log(JSON.stringify({
    importOverPlatform: rounded(importOver(platformImport), 3),
    importOverSdk: rounded(importOver(sdkImport), 3),
    bundledStartRatio: rounded(ours.millis / sdk.millis, 3),
    bundledStartRatioFetch: rounded(bare.millis / sdk.millis, 3),
    commandVersionRatio: rounded(version / node, 3),
    commandVersionsRatio: rounded(versions / sdk.millis, 3),
    bundleWholeKb: rounded(ours.kilobytes, 1),
    bundleWholeKbSdk: rounded(sdk.kilobytes, 1),
    bundleOneKb: rounded(oneKb, 1),
    bundleAllKb: rounded(allKb, 1)
  }))
} finally {
  rmSync(directory, { recursive: true, force: true })
}

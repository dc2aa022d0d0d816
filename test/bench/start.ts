/**
 * `npm run bench:start`: measures whole processes, alternately: the time to import the library compared with the platform's
 * modules that it needs and with the vendor's SDK, the time of a bundled script of one call compared with the vendor's SDK and with bare `fetch`, and
 * the command line, whose `--version` is compared with bare Node, and whose `versions` with the bundled script of the SDK; and
 * sizes: of these scripts with all that is in them, and of what the library adds to a bundle. `--quick` starts fewer processes, `--save` keeps the table.
 * `--effect4` compares a whole program on both lines of Effect with the SDK instead; `npm run effect4` writes it first.
 */
import { build } from "esbuild"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { gzipSync } from "node:zlib"
import { buildCommandLine } from "../../.ci/build/commandLine.js"
import { buildJavascript } from "../../.ci/build/javascript.js"
import { actionId } from "./calls/payloads.js"
import { save } from "./results.js"
import { compareLines } from "./start/lines.js"
import { type Command, median, programOptions, runAlternately, withServer } from "./start/run.js"
import { modulesOf, overPlatform } from "./start/sizes.js"

const { values: { effect4, quick } } = parseArgs({
  options: {
    effect4: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    save: { type: "boolean" }
  }
})
const rounds = quick ? 7 : 25
const root = join(import.meta.dirname, "../..")
// Inside the project, so that its dependencies resolve.
const directory = join(root, "node_modules", `.bench-start-${process.pid}`)

const measured = (imports: ReadonlyArray<string>): string =>
  [
    "const begin = performance.now()",
    `await Promise.all([${imports.map((name) => `import(${JSON.stringify(name)})`).join(", ")}])`,
    "console.log(JSON.stringify([performance.now() - begin, process.memoryUsage().rss / 1e6]))"
  ].join("\n")

const imported = async () => {
  const modules = modulesOf(readFileSync(join(root, "src/index.ts"), "utf8").replaceAll("\"./", "\"../../../src/"))
  const scripts = { platform: modules, ours: [...modules, "./dist/index.js"], sdk: ["auth0"] }
  const files = Object.entries(scripts).map(([name, imports]): Command => {
    const file = join(directory, `import-${name}.mjs`)
    writeFileSync(file, measured(imports))
    return [process.execPath, file]
  })
  const figures = (await runAlternately(files, { rounds })).map((rounds) =>
    rounds.map(({ output }) => JSON.parse(output) as [millis: number, megabytes: number])
  )
  return figures.map((some) => ({
    millis: median(some.map(([millis]) => millis)),
    megabytes: median(some.map(([, megabytes]) => megabytes))
  }))
}

const started = async () => {
  const names = ["ours", "auth0", "auth0Resource", "fetch"]
  await build({
    entryPoints: names.map((name) => join(import.meta.dirname, "start", `${name}.ts`)),
    outdir: directory,
    ...programOptions
  })
  const binary = join(directory, "dist/cli/bin.js")
  const commands = [["-e", "0"], [binary, "--version"], [binary, "versions", actionId]]
  const results = await withServer((origin) => {
    // `versions` asks for no token either.
    const env = { PATH: process.env["PATH"], IDENTITY_BASE_URL: `${origin}/api/v2`, IDENTITY_TOKEN: "a-token" }
    const scripts = names.map((name) => [join(directory, `${name}.mjs`), origin, actionId])
    return runAlternately([...scripts, ...commands].map((args): Command => [process.execPath, ...args]), {
      env,
      rounds
    })
  })
  const outputs = results.map((rounds) => rounds.map(({ output }) => output))
  const expected = [/^1$/, /^1$/, /^1$/, /^1$/, /^$/, /^\d+\.\d+\.\d+$/, /^# .*\n/]
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

const measureAll = async () => {
  mkdirSync(directory, { recursive: true })
  // As in the library's own package.json. Without `type`, Node would parse each file twice to detect its format.
  writeFileSync(join(directory, "package.json"), JSON.stringify({ type: "module", version: "0.0.0", sideEffects: [] }))
  try {
    await buildJavascript(join(directory, "dist"))
    await buildCommandLine(join(directory, "dist"))
    const unmeasured = { millis: NaN, megabytes: NaN }
    const [platformImport = unmeasured, ourImport = unmeasured, sdkImport = unmeasured] = await imported()
    const none = { millis: NaN, kilobytes: NaN }
    const { node, scripts: [ours = none, sdk = none, resource = none, bare = none], version, versions } =
      await started()
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
            by the SDK's entry of its resource   ${resource.millis.toFixed(0)} ms: ${toSdk(resource)} of the SDK's
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
            by the SDK's entry of its resource   ${resource.kilobytes.toFixed(1)} kB
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
      bundleWholeKbSdkResource: rounded(resource.kilobytes, 1),
      bundleOneKb: rounded(oneKb, 1),
      bundleAllKb: rounded(allKb, 1)
    }))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

await (effect4 ? compareLines(rounds) : measureAll())

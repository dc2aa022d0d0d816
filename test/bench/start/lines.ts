/**
 * Compares a whole program on both lines of Effect with the same one with the vendor's SDK, and with one on Effect 4 that does
 * without us: its size, and its start.
 */
import { build, transform } from "esbuild"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { buildJavascript } from "../../../.ci/build/javascript.js"
import { effect3, effect4, type Line } from "../../../.ci/line.js"
import { actionId } from "../calls/payloads.js"
import { save } from "../results.js"
import { type Command, median, programOptions, runAlternately, withServer } from "./run.js"

const sourceIn = ({ root }: Line, script: string) => join(root, "test/bench/start", `${script}.ts`)

/** A folder inside a line's, so that its dependencies resolve. */
const folderOf = ({ root }: Line) => join(root, "node_modules", `.bench-lines-${process.pid}`)

/** Bundles a script of a line. */
const bundled = async (line: Line, script: string): Promise<string> => {
  const outdir = join(folderOf(line), "bundled")
  await build({ ...programOptions, absWorkingDir: line.root, entryPoints: [sourceIn(line, script)], outdir })
  return join(outdir, `${script}.mjs`)
}

/** Writes a script as it would import the published package, and everything else from `node_modules`. */
const unbundled = async (line: Line, script: string): Promise<string> => {
  const { code } = await transform(readFileSync(sourceIn(line, script), "utf8"), { loader: "ts", format: "esm" })
  const file = join(folderOf(line), `${script}.mjs`)
  writeFileSync(file, code.replaceAll("../../../src/", "./dist/"))
  return file
}

const kilobytes = (file: string): number => gzipSync(readFileSync(file), { level: 9 }).length / 1000

const programs = async (): Promise<ReadonlyArray<string>> => {
  for (const line of [effect4, effect3]) {
    mkdirSync(folderOf(line), { recursive: true })
    // As in the package's own package.json.
    writeFileSync(join(folderOf(line), "package.json"), JSON.stringify({ type: "module", sideEffects: [] }))
    await buildJavascript(join(folderOf(line), "dist"), line)
  }
  return [
    await bundled(effect4, "credentials"),
    await bundled(effect3, "credentials"),
    await bundled(effect3, "sdkCredentials"),
    await bundled(effect4, "bare"),
    await unbundled(effect4, "credentials"),
    await unbundled(effect3, "credentials"),
    await unbundled(effect3, "sdkCredentials")
  ]
}

/** Measures on the Node that the line for Effect 4 runs on. */
export const compareLines = async (rounds: number): Promise<void> => {
  try {
    const files = await programs()
    const results = await withServer((origin) =>
      runAlternately(files.map((file): Command => [effect4.node, file, origin, actionId]), { rounds })
    )
    if (results.flat().some(({ output }) => output !== "1")) throw new Error("unexpected output of a script")
    const [next = NaN, ours = NaN, sdk = NaN, bare = NaN, nextLoose = NaN, oursLoose = NaN, sdkLoose = NaN] = results
      .map((
        rounds
      ) => median(rounds.map(({ millis }) => millis)))
    const [nextKb = NaN, oursKb = NaN, sdkKb = NaN, bareKb = NaN] = files.slice(0, 4).map(kilobytes)
    const of = (one: number, other: number) => (one / other).toFixed(2)
    const table = `size        on Effect 4                          ${
      nextKb.toFixed(1)
    } kB with all that is in it (min+gzip)
            on Effect 3                          ${oursKb.toFixed(1)} kB
            the vendor's SDK                     ${sdkKb.toFixed(1)} kB
            Effect 4 alone                       ${bareKb.toFixed(1)} kB
bundled     on Effect 4                          ${next.toFixed(0)} ms: ${of(next, sdk)} of the SDK's
            on Effect 3                          ${ours.toFixed(0)} ms: ${of(ours, sdk)} of the SDK's
            the vendor's SDK                     ${sdk.toFixed(0)} ms
            Effect 4 alone                       ${bare.toFixed(0)} ms: ${of(bare, sdk)} of the SDK's
unbundled   on Effect 4                          ${nextLoose.toFixed(0)} ms: ${of(nextLoose, oursLoose)} of Effect 3's
            on Effect 3                          ${oursLoose.toFixed(0)} ms
            the vendor's SDK                     ${sdkLoose.toFixed(0)} ms`
    console.log(`Whole processes, run alternately; the median of ${rounds} rounds\n\n${table}\n`)
    save("effect4-start.txt", table)
    console.log(JSON.stringify({
      effect4BundleKb: Number(nextKb.toFixed(1)),
      effect4BundledStartRatioSdk: Number((next / sdk).toFixed(3)),
      effect4AloneStartRatioSdk: Number((bare / sdk).toFixed(3)),
      effect4UnbundledStartRatioEffect3: Number((nextLoose / oursLoose).toFixed(3))
    }))
  } finally {
    for (const line of [effect4, effect3]) rmSync(folderOf(line), { recursive: true, force: true })
  }
}

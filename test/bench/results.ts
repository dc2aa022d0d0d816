/** Keeps the results of benchmarks in `test/bench/results`. The pages and the chart have their numbers from there. */
import { readFileSync, writeFileSync } from "node:fs"

const file = (name: string) => new URL(`results/${name}`, import.meta.url)

/** Options that leave rows out, or change what is measured. */
const partial = ["--only", "--client", "--shared", "--loaded", "--no-retry-after"]

/** Keeps a result if the benchmark runs with `--save`. A run of some rows is refused. */
export const save = (name: string, text: string): void => {
  if (!process.argv.includes("--save")) return
  const option = partial.find((option) => process.argv.some((word) => word.split("=")[0] === option))
  if (option !== undefined) throw new Error(`--save keeps whole results, but ${option} was given`)
  writeFileSync(file(name), `${text.trimEnd()}\n`)
  console.log(
    `\ntest/bench/results/${name} is written; \`npm run pages\` brings it into the pages`
  )
}

/** Reads a result. */
export const result = (name: string): string => readFileSync(file(name), "utf8").trimEnd()

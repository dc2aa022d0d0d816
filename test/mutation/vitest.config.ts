/**
 * Runs the tests against a fault: all in one thread that stays alive, since loading everything anew takes a second. `setup.ts`
 * resets what the thread keeps.
 */
import { createRequire } from "node:module"
import { relative } from "node:path"
import { pathToFileURL } from "node:url"
import { mergeConfig, type Plugin } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import base from "../vitest.config.js"

const fromVitest = createRequire(createRequire(import.meta.url).resolve("vitest/package.json"))
const { Tinypool } = await import(pathToFileURL(fromVitest.resolve("tinypool")).href)
Tinypool.prototype.recycleWorkers = () => Promise.resolve()

/** Runs the files first that failed with the last fault, then the fastest. */
class FailedAndFastFirst extends BaseSequencer {
  private readonly longest = new Map<string, number>()

  override async sort(specs: Array<TestSpecification>) {
    const ranked = specs.map((spec) => {
      const key = `${spec.project.name}:${relative(this.ctx.config.root, spec.moduleId)}`
      const { duration = 0, failed = false } = this.ctx.cache.getFileTestResults(key) ?? {}
      const longest = Math.max(duration, this.longest.get(key) ?? 0)
      this.longest.set(key, longest)
      return { spec, rank: failed ? -1 : longest }
    })
    return ranked.sort((one, other) => one.rank - other.rank).map(({ spec }) => spec)
  }
}

/** Computes memoized values anew in each test file, by the map of `setup.ts`. */
const memoizePerTestFile: Plugin = {
  name: "memoize-per-test-file",
  transform: (code, id) => {
    if (!/\/internal\/(?:runtime\/memoize|schema\/schemaTree)\.ts$/.test(id)) return undefined
    if (!code.includes("WeakMap")) throw new Error(`${id} has no WeakMap to replace`)
    return code.replace(/\bWeakMap\b/g, "mutationWeakMap")
  }
}

const timeout = Number(process.env["MUTATION_TIMEOUT"])

const config = mergeConfig(base, {
  plugins: [memoizePerTestFile],
  test: {
    // A fault that makes a test wait for ever costs this much.
    testTimeout: timeout,
    hookTimeout: timeout,
    pool: "threads",
    poolOptions: { threads: { isolate: false } },
    setupFiles: ["test/mutation/setup.ts"],
    runner: "./test/mutation/runner.ts",
    sequence: { sequencer: FailedAndFastFirst }
  }
})
config.test.include = JSON.parse(process.env["MUTATION_TESTS"] ?? "[]")

export default config

/**
 * How the suites run against a fault: all in one thread that stays, since to load everything anew takes a second; what depends
 * on that thread's past is undone in `setup.ts`.
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

/** Whoever noticed the last fault goes first, and then the fastest. */
class QuickToNotice extends BaseSequencer {
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

/** What was worked out for an operation before a fault was put in is worked out anew with it: `setup.ts` has such maps. */
const forgetful: Plugin = {
  name: "forgetful",
  transform: (code, id) => {
    if (!id.endsWith("/internal/runtime/memoizeByEndpoint.ts")) return undefined
    if (!code.includes("WeakMap")) throw new Error("there is no map that could be forgetful")
    return code.replace(/\bWeakMap\b/g, "mutationForgetfulMap")
  }
}

const isLong = process.env["MUTATION_LONG"] !== undefined

const config = mergeConfig(base, {
  plugins: [forgetful],
  test: {
    // A fault that keeps something from ending costs so long.
    testTimeout: isLong ? 20_000 : 5000,
    hookTimeout: isLong ? 20_000 : 5000,
    pool: "threads",
    poolOptions: { threads: { isolate: false } },
    setupFiles: ["test/mutation/setup.ts"],
    runner: "./test/mutation/runner.ts",
    sequence: { sequencer: QuickToNotice }
  }
})
const tests = process.env["MUTATION_TESTS"]
if (tests !== undefined) config.test.include = tests.split(" ").map((name) => `test/${name}.test.ts`)

export default config

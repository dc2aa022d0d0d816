/** Runs all tests, with the package's name resolved to `src` as in `tsconfig.json`. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const root = fileURLToPath(new URL("..", import.meta.url))

const { compilerOptions }: { compilerOptions: { paths: Record<string, [string]> } } = JSON.parse(
  readFileSync(`${root}tsconfig.json`, "utf8")
)

export default defineConfig({
  root,
  resolve: {
    // Matches whole names, so that `effect-identity-client` does not match `effect-identity-client/Node`.
    alias: Object.entries(compilerOptions.paths).map(([name, [file]]) => ({
      find: new RegExp(`^${name.replace("*", "(.*)")}$`),
      replacement: `${root}${file.replace("./", "").replace("*", "$1")}`
    }))
  },
  test: {
    include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
    // Ends a test that hangs, far later than a slow machine ends one that does not.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    reporters: ["./test/support/quietReporter.ts"],
    silent: "passed-only",
    setupFiles: ["test/support/eachTest.ts"],
    // The test files of a process share what they import: it takes a second to load. They make many short-lived objects, which are
    // collected faster from a large young generation: a file of virtual time takes 15 % less.
    pool: "forks",
    poolOptions: { forks: { isolate: false, minForks: 1, maxForks: 2, execArgv: ["--max-semi-space-size=64"] } },
    coverage: {
      provider: "v8",
      experimentalAstAwareRemapping: true,
      include: ["src/**/*.ts"],
      exclude: ["src/tenant/page/{live,ui}/**"], // runs in browsers: test/docs
      reporter: ["text"],
      reportOnFailure: true,
      thresholds: { lines: 95, branches: 95, functions: 95, statements: 95 }
    }
  }
})

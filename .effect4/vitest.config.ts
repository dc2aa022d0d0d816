/** Runs the converted tests on Node 22 and newer, with the package's name resolved to the converted sources. */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const kit = fileURLToPath(new URL("kit/", import.meta.url))
const root = fileURLToPath(new URL("out/", import.meta.url))

export default defineConfig({
  root,
  resolve: {
    alias: [
      { find: /^effect\/testing$/, replacement: `${kit}testing.ts` },
      { find: /^effect\/testing\/TestClock$/, replacement: `${kit}testClock.ts` },
      { find: /^effect-identity-client$/, replacement: `${root}src/index.ts` },
      { find: /^effect-identity-client\/(.*)$/, replacement: `${root}src/$1.ts` }
    ]
  },
  test: {
    include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
    // They are about this repository: its linter, its pages, its package.
    exclude: ["contributing", "installLines", "lint", "package", "readme"].map((name) =>
      `test/package/${name}.test.ts`
    ),
    // Ends a test that hangs, far later than a slow machine ends one that does not.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    setupFiles: ["test/support/eachTest.ts"],
    // The test files of a process share what they import: it takes a second to load.
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    silent: "passed-only"
  }
})

/** Runs tests against `dist` instead of the sources: suites that import public modules only. */
import { fileURLToPath } from "node:url"
import { mergeConfig, type Plugin } from "vitest/config"
import base from "../../test/vitest.config.js"

const suites = [
  "examples/fleet",
  "examples/ownOperation",
  "examples/testing",
  "test/client/errors",
  "test/client/node",
  "test/client/retry",
  "test/client/settings",
  "test/client/testing",
  "test/fleet/store",
  "test/limiter/rateLimiter",
  "test/redelivery/redelivery",
  "test/schema/timestamp",
  "test/security/hardening",
  "test/telemetry/logs",
  "test/telemetry/metrics",
  "test/telemetry/spans",
  "test/tenant/server/app",
  "test/token/cache",
  "test/token/tokenRequest",
  "test/token/tokenProvider"
]

/** Internal modules without a state: they may be loaded twice. */
const stateless = [
  "internal/schema/schemaTree",
  "internal/schema/jsonSchema",
  "internal/redelivery/outcome",
  "internal/redelivery/storeFailure",
  "internal/runtime/runner"
]

/** Resolves `../src/Node.js` to `dist/Node.js`. Rejects internal modules, which would be loaded twice. */
const published: Plugin = {
  name: "published",
  enforce: "pre",
  resolveId(id) {
    const [, module] = /^(?:\.\.\/)+src\/(.+)\.js$/.exec(id) ?? []
    if (module === undefined || stateless.includes(module)) return undefined
    if (!/^(?:operations\/)?\w+$/.test(module)) throw new Error(`${id} is not public`)
    return fileURLToPath(new URL(`../../dist/${module}.js`, import.meta.url))
  }
}

// Without the aliases of the sources, Node resolves the package's name to `dist`.
const { resolve: _, test, ...rest } = base

export default mergeConfig(rest, {
  plugins: [published],
  test: { ...test, include: suites.map((name) => `${name}.test.ts`) }
})

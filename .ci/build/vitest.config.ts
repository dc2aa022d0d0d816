/** Runs tests against `dist` instead of the sources: the suites that import public modules only. */
import { fileURLToPath } from "node:url"
import { mergeConfig, type Plugin } from "vitest/config"
import base from "../../test/vitest.config.js"

const suites = [
  "client/errors",
  "client/node",
  "client/retry",
  "client/testing",
  "fleet/fleet",
  "limiter/rateLimiter",
  "redelivery/redelivery",
  "schema/timestamp",
  "security/hardening",
  "telemetry/logs",
  "telemetry/metrics",
  "telemetry/spans",
  "token/cache",
  "token/clientCredentials",
  "token/tokenProvider"
]

/** Resolves `../src/Node.js` to `dist/Node.js`. Rejects internal modules, which would be loaded twice. */
const published: Plugin = {
  name: "published",
  enforce: "pre",
  resolveId(id) {
    const [, module] = /^(?:\.\.\/)+src\/(.+)\.js$/.exec(id) ?? []
    if (module === undefined) return undefined
    if (!/^(?:operations\/)?\w+$/.test(module)) throw new Error(`${id} is not public`)
    return fileURLToPath(new URL(`../../dist/${module}.js`, import.meta.url))
  }
}

// Drops the aliases of the sources.
const { resolve: _, test, ...rest } = base

export default mergeConfig(rest, {
  plugins: [published],
  test: { ...test, include: suites.map((name) => `test/${name}.test.ts`) }
})

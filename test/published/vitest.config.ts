/** How suites run against what `npm run build` has made instead of the sources: those that need nothing but what is public. */
import { fileURLToPath } from "node:url"
import { mergeConfig, type Plugin } from "vitest/config"
import base from "../vitest.config.js"

const suites = [
  "errors",
  "fleet",
  "hardening",
  "node",
  "rateLimiter",
  "redelivery",
  "retry",
  "spans",
  "telemetry",
  "testing",
  "timestamp",
  "tokenProvider"
]

/** Resolves `../src/Node.js` to `dist/Node.js`. What is internal would be there twice, and is refused. */
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

// Without the names that lead to the sources.
const { resolve: _, test, ...rest } = base

export default mergeConfig(rest, {
  plugins: [published],
  test: { ...test, include: suites.map((name) => `test/${name}.test.ts`) }
})

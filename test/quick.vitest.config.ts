/** Runs the tests but for those that take long by nature: with many faults, processes, databases or seeds. `npm run test:all` runs all. */
import { configDefaults, mergeConfig } from "vitest/config"
import all from "./vitest.config.js"

const slow = [
  "test/cli/{guide,jobs,redeliverCommand}.test.ts",
  "test/cluster/{cluster,figures,migrations,sweep}.test.ts",
  "test/contract/laws.test.ts",
  "test/contract/majors/**",
  "test/exports/crash.test.ts",
  "test/fleet/{ceiling,model,otherVersions,redisSettings,size}.test.ts",
  "test/fuzz/**",
  "test/http/faultMatrix.test.ts",
  "test/limiter/goodput.test.ts",
  "test/package/{contributing,examples}.test.ts",
  "test/runtimes/**",
  "test/security/canary.test.ts",
  "test/simulation/**",
  "test/token/queues.test.ts"
]

export default mergeConfig(all, { test: { exclude: [...configDefaults.exclude, ...slow] } })

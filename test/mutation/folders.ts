/** The folders of `src` that are mutated one after the other, each with the tests that should detect its faults. */
import { existsSync, readdirSync } from "node:fs"

/** Part of `src` with a score of its own. */
export interface Folder {
  readonly name: string
  /** Files of `src`. */
  readonly files: ReadonlyArray<string>
  /** Test files. */
  readonly tests: ReadonlyArray<string>
  /** Those of `tests` that are about the folder. They are tried first. */
  readonly ownTests: ReadonlyArray<string>
}

/** TypeScript files below a folder, with `/` as separator. */
const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .sort()

/** Parts of the pages, which the tests in a browser run. */
const browserFiles = /^src\/tenant\/page\/(docs|live|ui)\//

const sources = filesBelow("src").filter((file) => !browserFiles.test(file))
const tests = filesBelow("test").filter((file) => file.endsWith(".test.ts"))

/** Tests that start processes, compile types, or try thousands of cases: too slow to run for each fault. */
const slowTests = [
  "client/types",
  "contract/laws",
  "contract/roundTrip",
  "contract/sdk",
  "contract/sdkResponses",
  "exports/crash",
  "fleet/model",
  "fleet/otherVersions",
  "generate/harness",
  "http/faultMatrix",
  "security/canary"
].map((name) => `test/${name}.test.ts`)

/** Test files and folders, without `test/` and `.test.ts`. */
interface Tests {
  /** Those that are about the folder. */
  readonly own: ReadonlyArray<string>
  /** Others that use it. */
  readonly others: ReadonlyArray<string>
}

const testsOf: Readonly<Record<string, Tests>> = {
  "internal/runtime": {
    own: ["runtime"],
    others: ["limiter", "client/pipeline", "client/retry", "http/media", "http/undici", "pagination", "redelivery"]
  },
  "internal/schema": { own: ["schema"], others: ["http", "client/pipeline", "pagination", "telemetry/metrics"] },
  "internal/http": {
    own: ["http"],
    others: ["schema", "client", "token", "contract", "security", "package/package"]
  },
  "internal/telemetry": {
    own: ["telemetry"],
    others: ["client/pipeline", "limiter/rateLimiter", "token", "fleet/token", "security"]
  },
  "internal/limiter": {
    own: ["limiter"],
    others: ["fleet", "runtime", "telemetry", "security", "support/virtualTime"]
  },
  "internal/token": { own: ["token"], others: ["fleet/token", "client/pipeline", "telemetry", "security"] },
  "internal/call": { own: ["client"], others: ["http", "token", "contract", "telemetry", "security"] },
  "internal/fleet": { own: ["fleet"], others: ["limiter", "security"] },
  "internal/redelivery": { own: ["redelivery"], others: ["client/node"] },
  "internal/deliveries": { own: ["redelivery"], others: [] },
  "internal/exports": { own: ["exports"], others: [] },
  "internal/pagination": { own: ["pagination"], others: [] },
  "internal/request": { own: ["client/request"], others: [] },
  jobs: { own: ["jobs"], others: [] },
  node: {
    own: [
      "client/node",
      "client/nodeEnvironment",
      "client/nodeTlsKey",
      "http/undici",
      "redelivery/fileJournal",
      "jobs/fileJobs",
      "jobs/fileKeeper",
      "jobs/store"
    ],
    others: ["http/sockets", "token/mutualTls", "redelivery", "jobs", "security"]
  },
  cluster: { own: ["cluster", "jobs/store"], others: ["jobs"] },
  operations: {
    own: ["contract/shapes", "tenant/docs", "tenant/api"],
    others: ["http", "client/pipeline", "contract"]
  },
  generate: { own: ["generate"], others: [] },
  cli: { own: ["cli"], others: ["generate/command"] },
  "tenant/server": {
    own: ["tenant/server"],
    others: ["tenant", "client/node", "client/testing", "support/bucketServer"]
  },
  "tenant/api": { own: ["tenant/api"], others: ["tenant", "client/testing"] },
  "tenant/exports": { own: ["tenant/exports", "tenant/api/jobs"], others: ["tenant", "exports"] },
  "tenant/control": { own: ["tenant/control"], others: ["tenant"] },
  "tenant/docs": { own: ["tenant/docs"], others: ["tenant"] },
  "tenant/page": { own: ["tenant/page", "tenant/docs/routes", "tenant/control/access"], others: ["tenant"] },
  "tenant/fixtures": { own: ["tenant/fixtures", "tenant/api"], others: ["tenant", "client/testing"] },
  /** The modules that users import, directly in `src`. */
  public: {
    own: [
      "client",
      "exports",
      "fleet",
      "limiter/rateLimiter",
      "pagination",
      "redelivery",
      "schema",
      "tenant/fixtures",
      "token/tokenProvider"
    ],
    others: ["http", "limiter", "token", "jobs", "cluster", "telemetry", "tenant"]
  }
}

const isPublic = (file: string): boolean => /^src\/\w+\.ts$/.test(file)

const testFiles = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => {
    const found = tests.filter((file) => file === `test/${name}.test.ts` || file.startsWith(`test/${name}/`))
    if (found.length === 0) throw new Error(`test/mutation/folders.ts: there is no test/${name}`)
    return found.filter((file) => !slowTests.includes(file))
  })

export const folders: ReadonlyArray<Folder> = Object.entries(testsOf).map(([name, { others, own }]) => ({
  name,
  files: sources.filter((file) => name === "public" ? isPublic(file) : file.startsWith(`src/${name}/`)),
  tests: [...new Set(testFiles([...own, ...others]))],
  ownTests: [...new Set(testFiles(own))]
}))

for (const file of sources) {
  if (!folders.some(({ files }) => files.includes(file))) {
    throw new Error(`test/mutation/folders.ts: no folder has ${file}`)
  }
}

const quickTests = testFiles(["http/media/urlEncoding", "http/inexpressible", "runtime/backoff"])

/** A few small files, for a run of less than a minute. */
export const quick: Folder = {
  name: "quick",
  files: ["src/internal/runtime/backoff.ts", "src/internal/http/media/urlEncoding.ts"],
  tests: quickTests,
  ownTests: quickTests
}

for (const file of [...slowTests, ...quick.files]) {
  if (!existsSync(file)) throw new Error(`test/mutation/folders.ts: there is no ${file}`)
}

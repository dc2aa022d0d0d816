/** The folders of `src` that are mutated one after the other, each with the tests that should detect its faults. */
import { existsSync, readdirSync } from "node:fs"

/** Part of `src` with a score of its own. */
export interface Folder {
  readonly name: string
  /** Files of `src`. */
  readonly files: ReadonlyArray<string>
  /** Test files. */
  readonly tests: ReadonlyArray<string>
  /** Those that are tried first. */
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
  "fleet/model",
  "fleet/otherVersions",
  "generate/harness",
  "http/faultMatrix",
  "security/canary"
].map((name) => `test/${name}.test.ts`)

/** Test files and folders, without `test/` and `.test.ts`, by folder of `src`. The first of each is tried first. */
const testsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  "internal/runtime": [
    "runtime",
    "limiter",
    "client/pipeline",
    "client/retry",
    "http/media",
    "http/undici",
    "pagination",
    "redelivery"
  ],
  "internal/schema": ["schema", "http", "client/pipeline", "pagination", "telemetry/metrics"],
  "internal/http": ["http", "schema", "client", "token", "contract", "security", "package/package"],
  "internal/telemetry": ["telemetry", "client/pipeline", "limiter/rateLimiter", "token", "fleet/token", "security"],
  "internal/limiter": ["limiter", "fleet", "runtime", "telemetry", "security", "support/virtualTime"],
  "internal/token": ["token", "fleet/token", "client/pipeline", "telemetry", "security"],
  "internal/call": ["client", "http", "token", "contract", "telemetry", "security"],
  "internal/fleet": ["fleet", "limiter", "security"],
  "internal/redelivery": ["redelivery", "client/node"],
  "internal/deliveries": ["redelivery"],
  "internal/exports": ["exports"],
  "internal/pagination": ["pagination"],
  jobs: ["jobs"],
  node: ["client/node", "http/undici", "redelivery", "jobs", "security"],
  cluster: ["cluster", "jobs"],
  operations: ["http", "client/pipeline", "contract", "generate/five"],
  generate: ["generate"],
  cli: ["cli", "generate/command"],
  "tenant/server": ["tenant", "client/node", "client/testing", "support/bucketServer"],
  "tenant/api": ["tenant", "client/testing"],
  "tenant/exports": ["tenant"],
  "tenant/control": ["tenant"],
  "tenant/docs": ["tenant"],
  "tenant/page": ["tenant"],
  "tenant/fixtures": ["tenant", "client/testing"],
  /** The modules that users import, directly in `src`. */
  public: [
    "client",
    "http",
    "limiter",
    "token",
    "fleet",
    "pagination",
    "redelivery",
    "exports",
    "jobs",
    "telemetry",
    "tenant",
    "schema"
  ]
}

const isPublic = (file: string): boolean => /^src\/\w+\.ts$/.test(file)

const testFiles = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => {
    const found = tests.filter((file) => file === `test/${name}.test.ts` || file.startsWith(`test/${name}/`))
    if (found.length === 0) throw new Error(`test/mutation/folders.ts: there is no test/${name}`)
    return found.filter((file) => !slowTests.includes(file))
  })

export const folders: ReadonlyArray<Folder> = Object.entries(testsOf).map(([name, names]) => ({
  name,
  files: sources.filter((file) => name === "public" ? isPublic(file) : file.startsWith(`src/${name}/`)),
  tests: testFiles(names),
  ownTests: testFiles(names.slice(0, 1))
}))

for (const file of sources) {
  if (!folders.some(({ files }) => files.includes(file))) {
    throw new Error(`test/mutation/folders.ts: no folder has ${file}`)
  }
}

/** A few small files, for a run of less than a minute. */
export const quick: Folder = {
  name: "quick",
  files: ["src/internal/runtime/backoff.ts", "src/internal/http/media/urlEncoding.ts"],
  tests: testFiles(["http/media/urlEncoding", "client/retry"]),
  ownTests: testFiles(["http/media/urlEncoding", "client/retry"])
}

for (const file of [...slowTests, ...quick.files]) {
  if (!existsSync(file)) throw new Error(`test/mutation/folders.ts: there is no ${file}`)
}

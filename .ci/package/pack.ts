/**
 * `npm run test:pack`: packs the package, checks it with publint and attw, installs it into empty projects, type-checks them with
 * old and new compilers, and runs them: first the core with its own peers only, then the command line on each runtime that
 * `npm run test:runtimes` installs, then everything. `--quick` leaves out some combinations of compiler and module resolution, `--built`
 * packs what `npm run build` made before. The README's commands for an empty folder are carried out as they stand there, and so is every line of
 * every page that installs something; `--lines` does nothing else. `--effect4` does so with what `npm run effect4` wrote.
 */
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { install as installRuntimes } from "../../test/runtimes/packages.js"
import { chosenLine, effect3, lockedPackages } from "../line.js"
import { tryCommandLine } from "./commandLine.js"
import { installLines } from "./installLines.js"

const { corePeers, node, root } = chosenLine
const temporary = mkdtempSync(join(tmpdir(), "effect-identity-client-pack-"))
const started = performance.now()

/**
 * Last version of each TypeScript line since the first that compiles effect's own types. The projects below install them, since
 * a project's `node_modules/.bin` holds only one `tsc`.
 */
const compilers = ["5.7.3", "5.8.3", "5.9.3", "6.0.3", "7.0.2"]
const [oldest = "", newest = ""] = [compilers[0], compilers.at(-1)]
const resolutions = { node16: "node16", bundler: "preserve" }
/** Runs the oldest and the newest compiler only, each with one resolution. */
const isQuick = process.argv.includes("--quick")

const locked = (...names: ReadonlyArray<string>) => lockedPackages(chosenLine, ...names)
const { exports, peerDependenciesMeta, version }: {
  exports: Record<string, string | Record<string, string>>
  peerDependenciesMeta: Record<string, unknown>
  version: string
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const say = (text: string) => console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`)

/** Runs a command without input for at most five minutes. Returns its output. */
const run = (cwd: string, command: string, ...args: ReadonlyArray<string>) =>
  new Promise<string>((resolve, reject) => {
    const options = {
      cwd,
      env: { ...process.env, PATH: [dirname(node), process.env["PATH"]].join(delimiter) },
      timeout: 300_000,
      maxBuffer: 64 * 1024 * 1024,
      shell: process.platform === "win32" // npm is a script on Windows
    }
    execFile(command, args, options, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error([error.message, stdout, stderr].join("\n")))).stdin?.end()
  })

/** Import names of all modules. */
const entries = Object.keys(exports).flatMap((path) =>
  path.endsWith(".json") ? [] : [`effect-identity-client${path.slice(1)}`]
)

/** Files of the package that must not be importable. */
const notExported = [
  "internal/http/exchange.js",
  "dist/internal/http/exchange.js",
  "dist/index.js",
  "src/index.ts",
  "operations/index.js"
]
  .map((path) => `effect-identity-client/${path}`)

/** A library whose exports have inferred types: its declaration file must be able to name them without further imports. */
const library = `import { deleteEventStream, listActionVersions, Pagination, Redelivery } from "effect-identity-client"
import * as Fleet from "effect-identity-client/Fleet"
import * as Testing from "effect-identity-client/Testing"
export const call = deleteEventStream({ id: "est_1234567890123456789012" })
export const pages = Pagination.streamEither(listActionVersions, { actionId: "action" })
export const run = Redelivery.run([], { stream: "est_1234567890123456789012" })
export const limits = Fleet.layerRateLimiter
export const network = Testing.layerHttp()
console.log(deleteEventStream.endpoint.path)
`

/** Creates a project with strict compiler options, which also check the declarations of libraries. */
const makeProject = (name: string, files: Record<string, string>, compilerOptions: Record<string, unknown> = {}) => {
  const directory = join(temporary, name)
  mkdirSync(directory)
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text)
  write("package.json", JSON.stringify({ name, private: true, type: "module" }))
  write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        target: "es2022",
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true,
        declaration: true,
        skipLibCheck: false,
        types: [],
        ...compilerOptions
      },
      include: ["*.ts"]
    })
  )
  for (const [file, text] of Object.entries(files)) write(file, text)
  return directory
}

const install = (directory: string, ...packages: ReadonlyArray<string>) =>
  run(directory, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", ...packages)

const alias = (version: string) => `typescript-${version}`
const compilerOf = (...versions: ReadonlyArray<string>) =>
  versions.map((version) => `${alias(version)}@npm:typescript@${version}`)

/** Compiles a project. Returns its output folder. */
const compile = async (directory: string, version: string, resolution: keyof typeof resolutions) => {
  const out = join("out", `${version}-${resolution}`)
  const options = ["--module", resolutions[resolution], "--moduleResolution", resolution, "--outDir", out]
  await run(directory, node, join("node_modules", alias(version), "bin", "tsc"), ...options)
  say(`compiled by TypeScript ${version}, ${resolution}, including the declarations of all libraries`)
  return out
}

const execute = async (directory: string, file: string) => {
  const output = await run(directory, node, file)
  say(`${file} runs and prints:`)
  console.log(output.trimEnd().replaceAll(/^/gm, "          | "))
}

/** Checks that an installed package has all files of `exports`, and that these have a map to a source which is there. */
const checkFiles = (directory: string) => {
  const installed = join(directory, "node_modules", "effect-identity-client")
  for (
    const path of Object.values(exports).flatMap((entry) => typeof entry === "string" ? entry : Object.values(entry))
  ) {
    assert(existsSync(join(installed, path)), `${path} is in "exports" but not in the package`)
  }
  const files = readdirSync(join(installed, "dist"), { recursive: true, encoding: "utf8" })
    .map((file) => posix.join("dist", file.replaceAll("\\", "/")))
  const mapped = files.filter((file) => /^dist\/(?:operations\/)?\w+\.d\.ts$/.test(file))
  assert.deepEqual(files.filter((file) => file.endsWith(".map")).sort(), mapped.map((file) => `${file}.map`).sort())
  for (const file of files.filter((file) => /\.(?:js|d\.ts)$/.test(file))) {
    const [, map] = /(?:^|\n)\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(join(installed, file), "utf8")) ?? []
    assert.equal(map, mapped.includes(file) ? `${posix.basename(file)}.map` : undefined, file)
    if (map === undefined) continue
    const folder = join(installed, dirname(file))
    const { sources }: { sources: ReadonlyArray<string> } = JSON.parse(readFileSync(join(folder, map), "utf8"))
    assert.equal(sources.length, 1, map)
    for (const source of sources) {
      assert(existsSync(join(folder, source)), `${map} names ${source}, which does not exist`)
    }
  }
  assert(mapped.length > 0)
  say(`${mapped.length} declarations of dist have source maps to files in the package`)
}

/**
 * Carries out the commands that the README gives to somebody without a tenant, in an empty folder beside the tarball. The last command must
 * print what the README says.
 */
const followReadme = async (tarball: string) => {
  const section = readFileSync(join(root, "README.md"), "utf8").split("\n## The same without a tenant\n")[1] ?? ""
  const [, block = ""] = /^```sh\n([^]*?)^```$/m.exec(section) ?? []
  const [, shown] = /# prints: (.*)\n$/.exec(block) ?? []
  assert(shown, "the README does not say what its commands print")
  assert(
    block.includes(`../${basename(tarball)} `),
    "the README's commands do not install the tarball beside their folder"
  )
  const directory = join(temporary, "stranger")
  mkdirSync(directory)
  say("the commands of the README, in an empty folder:")
  console.log(block.trimEnd().replaceAll(/^/gm, "          $ "))
  const output = await run(directory, "sh", "-e", "-c", block)
  assert.equal(output.trimEnd().split("\n").at(-1), shown)
  say(`they print "${shown}", as the README says`)
}

/** Carries out all lines of each page that install something, in an empty folder for each page, beside the tarball. */
const followInstallLines = async (paths: ReadonlyArray<string>, tarball: string) => {
  const isOther = (word: string) => word.endsWith(".tgz") && word !== `../${basename(tarball)}`
  const follow = async (page: string) => {
    const lines = installLines(readFileSync(join(root, page), "utf8"))
      // Those of the other line of the package are carried out with that.
      .flatMap(({ line, packages }) => packages.some(isOther) ? [] : [line])
    if (lines.length === 0) return 0
    const directory = join(temporary, page.replaceAll("/", "-"))
    mkdirSync(directory)
    writeFileSync(join(directory, "package.json"), JSON.stringify({ private: true, type: "module" }))
    writeFileSync(join(directory, ".npmrc"), "strict-peer-deps=true\nprefer-offline=true\naudit=false\nfund=false\n")
    await run(directory, "sh", "-e", "-c", [...new Set(lines), "npm ls"].join("\n"))
    rmSync(directory, { recursive: true })
    return lines.length
  }
  const counts = await Promise.all(paths.filter((path) => path.endsWith(".md")).map(follow))
  const count = counts.reduce((sum, count) => sum + count)
  assert(count > 5)
  say(`${count} lines of the pages install what they name, without a conflict of peers`)
}

const build = () => {
  const tsx = join("node_modules", "tsx", "dist", "cli.mjs")
  return run(effect3.root, process.execPath, tsx, join(".ci", "build", "build.ts"), ...process.argv.slice(2))
}

const main = async () => {
  if (!process.argv.includes("--built")) await build()
  assert(existsSync(join(root, "dist", "index.js")), "there is no build to pack: `npm run build` makes it")
  interface Report {
    readonly filename: string
    readonly size: number
    readonly unpackedSize: number
    readonly files: ReadonlyArray<{ readonly path: string }>
  }
  const report: ReadonlyArray<Report> = JSON.parse(
    await run(root, "npm", "pack", "--json", "--silent", "--ignore-scripts", "--pack-destination", temporary)
  )
  const [packed] = report
  assert(packed, "npm pack reported no tarball")
  const tarball = join(temporary, packed.filename)
  const paths = packed.files.map(({ path }) => path)
  const [size, unpacked] = [packed.size / 1e6, packed.unpackedSize / 1e6]
  say(`${packed.filename}: ${paths.length} files, ${size.toFixed(2)} MB, ${unpacked.toFixed(2)} MB unpacked`)
  assert(size <= 1.3 && unpacked <= 4.5, "the package is larger than 1.3 MB, or 4.5 MB unpacked")
  const allowed =
    /^(?:package\.json|README\.md|LICENSE|src\/(?:operations\/)?\w+\.ts|dist\/.+\.(?:js|d\.ts(?:\.map)?)|dist\/cli\/(?:LICENSES|[\w-]+\.js\.LEGAL)\.txt|examples\/.+\.(?:ts|md)|\.assets\/.+\.(?:png|svg)|\.github\/(?:CHANGELOG|SECURITY)\.md)$/
  assert.deepEqual(paths.filter((path) => !allowed.test(path)), [], "files that do not belong in the package")
  await followInstallLines(paths, tarball)
  if (process.argv.includes("--lines")) return

  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer } })
  assert.deepEqual(messages.map((message) => formatMessage(message, pkg)), [])
  const attw = join(
    dirname(fileURLToPath(import.meta.resolve("@arethetypeswrong/cli/package.json"))),
    "dist",
    "index.js"
  )
  await run(effect3.root, process.execPath, attw, tarball, "--profile", "esm-only")
  say("publint and attw report nothing")

  await followReadme(tarball)

  // The core with its required peers only.
  const core = makeProject("core", {
    "library.ts": library,
    "missingPeers.mjs":
      `for (const [name, peer] of Object.entries({ Node: "@effect/platform-node", Redis: "ioredis", Tenant: "jose" })) {
  const error = await import(\`effect-identity-client/\${name}\`).then(() => undefined, (error) => error)
  if (error?.code !== "ERR_MODULE_NOT_FOUND" || !error.message.includes(\`'\${peer}'\`)) throw new Error(\`\${name}: \${error}\`)
  console.log(\`/\${name} reports that it needs \${peer}\`)
}
`
  })
  const alone = makeProject("alone", {})
  await Promise.all([
    install(core, tarball, ...locked(...corePeers), ...compilerOf(newest)),
    install(alone, tarball),
    installRuntimes()
  ])
  for (const peer of Object.keys(peerDependenciesMeta)) assert(!existsSync(join(core, "node_modules", peer)), peer)
  say(`the core is installed with ${corePeers.join(" and ")} only`)
  checkFiles(core)
  await execute(core, join(await compile(core, newest, "node16"), "library.js"))
  await execute(core, "missingPeers.mjs")

  // Everything, with all peers.
  const full = makeProject("full", {
    "library.ts": library,
    "modules.ts": `${entries.map((name, index) => `import * as m${index} from "${name}"`).join("\n")}
for (const module of [${entries.map((_, index) => `m${index}`).join(", ")}]) console.log(Object.keys(module).join(" "))
`,
    // An import that compiled would be an error, by the comment above it.
    "notExported.ts": notExported.map((name, index) =>
      `// @ts-expect-error\nexport type * as N${index} from "${name}"\n`
    ).join(
      ""
    ),
    "notExported.mjs": `for (const name of ${JSON.stringify(notExported)}) {
  const code = await import(name).then(() => "importable", (error) => error.code)
  if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw new Error(\`\${name}: \${code}\`)
}
`
  }, { types: ["node"] })
  cpSync(join(root, "examples", "quickstart.ts"), join(full, "quickstart.ts"))
  cpSync(join(root, "test", "package", "consumer.ts"), join(full, "consumer.ts"))
  // The command line needs no other package.
  assert.equal(await run(alone, "npx", "--no-install", "effect-identity-client", "--version"), `${version}\n`)
  const [runtimes] = await Promise.all([
    tryCommandLine(alone, version, say),
    install(
      full,
      tarball,
      ...locked(...corePeers, "@effect/platform-node", "@effect/sql-pg", "ioredis", "jose", "@types/node"),
      "@types/ws@8.18.1", // named by the platform's declarations
      ...compilerOf(...compilers)
    )
  ])
  say(`the command line runs on ${runtimes.join(", ")}`)
  say("everything is installed with all peers and compilers")
  const rows = compilers.flatMap((version) =>
    (["node16", "bundler"] as const)
      .filter((_, nth) => !isQuick || (version === newest && nth === 0) || (version === oldest && nth === 1))
      .map((resolution) => [version, resolution] as const)
  )
  const compileAll = async () => {
    for (let row = rows.shift(); row !== undefined; row = rows.shift()) await compile(full, ...row)
  }
  await Promise.all([compileAll(), compileAll()])
  const out = join("out", `${oldest}-bundler`)
  await execute(full, join(out, "modules.js"))
  await execute(full, join(out, "consumer.js"))
  await run(full, node, "notExported.mjs")
  say("files that are not exported cannot be imported, neither as types nor at runtime")
  await execute(full, join(out, "quickstart.js"))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

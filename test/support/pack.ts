/**
 * Proves the package as a stranger gets it: packed, installed into empty projects, type-checked and run. First the core
 * with its two peers alone, then everything with `examples/quickstart.ts`, the snippet of the README.
 */
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const temporary = mkdtempSync(join(tmpdir(), "effect-identity-client-pack-"))
const started = performance.now()

const lock: { packages: Record<string, { version: string }> } = JSON.parse(
  readFileSync(join(root, "package-lock.json"), "utf8")
)
const locked = (...names: ReadonlyArray<string>) =>
  names.map((name) => {
    const entry = lock.packages[`node_modules/${name}`]
    assert(entry, `${name} is not in package-lock.json`)
    return `${name}@${entry.version}`
  })

const say = (text: string) => console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`)

/** Runs a command without input for at most two minutes, and gives back what it printed. */
const run = (cwd: string, command: string, ...args: ReadonlyArray<string>) => {
  const { error, signal, status, stderr, stdout } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    input: "",
    timeout: 120_000,
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32" // npm is a script there
  })
  if (status !== 0) {
    const reason = error?.message ?? signal ?? `exit code ${status}`
    throw new Error([`${command} ${args.join(" ")}: ${reason}`, stdout, stderr].join("\n"))
  }
  return stdout
}

const modules = ["", "/fleet", "/node", "/redis", "/tenant", "/testing"].map((path) => `effect-identity-client${path}`)

/** An empty project that is as strict as TypeScript gets; declarations of libraries, ours too, are checked. */
const project = (name: string, files: Record<string, string>, compilerOptions: Record<string, unknown> = {}) => {
  const directory = join(temporary, name)
  mkdirSync(directory)
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text)
  write("package.json", JSON.stringify({ name, private: true, type: "module" }))
  write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        target: "es2022",
        module: "nodenext",
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true,
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

const compile = (directory: string) => {
  run(directory, process.execPath, join("node_modules", "typescript", "bin", "tsc"))
  say("compiled, with the declarations of all libraries checked")
}

const execute = (directory: string, file: string) => {
  const output = run(directory, process.execPath, file)
  say(`${file} runs and prints:`)
  console.log(output.trimEnd().replaceAll(/^/gm, "          | "))
}

const main = () => {
  const report: ReadonlyArray<{ filename: string; size: number; files: ReadonlyArray<{ path: string }> }> = JSON.parse(
    run(root, "npm", "pack", "--json", "--silent", "--pack-destination", temporary)
  )
  const [packed] = report
  assert(packed, "npm pack reports no tarball")
  const tarball = join(temporary, packed.filename)
  const paths = packed.files.map(({ path }) => path)
  say(`${packed.filename}: ${paths.length} files, ${(packed.size / 1024).toFixed(0)} KiB`)
  const allowed = /^(?:package\.json|README\.md|LICENSE|src\/.+\.ts|dist\/.+\.(?:js|d\.ts)(?:\.map)?)$/
  assert.deepEqual(paths.filter((path) => !allowed.test(path)), [], "files that do not belong into the package")
  for (const path of ["README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "src/index.ts"]) {
    assert(paths.includes(path), `${path} is missing in the package`)
  }

  const core = project("core", {
    "core.ts": `import { deleteEventStream, IdentityClient } from "effect-identity-client"
export const call = deleteEventStream({ id: "est_1234567890123456789012" })
console.log(typeof IdentityClient.layer, deleteEventStream.endpoint.path)
`
  })
  install(core, tarball, ...locked("effect", "@effect/platform", "typescript"))
  say("the core is installed with its two peers alone")
  compile(core)
  execute(core, "core.js")

  const imports = modules.map((name, index) => `import * as m${index} from "${name}"`).join("\n")
  const full = project("full", {
    "modules.ts": `${imports}
for (const module of [${modules.map((_, index) => `m${index}`).join(", ")}]) console.log(Object.keys(module).join(" "))
`,
    // The platform's declarations name `ws` but do not bring its types.
    "ws.d.ts": `declare module "ws" {
  export class WebSocket {}
  export interface ServerOptions<Socket = never, Message = never> extends Pick<[Socket, Message], never> {}
}
`,
    "closed.mjs": `for (const name of ["internal/request.js", "dist/index.js", "src/index.ts"]) {
  const code = await import(\`effect-identity-client/\${name}\`).then(() => "open", (error) => error.code)
  if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw new Error(\`\${name}: \${code}\`)
}
`
  }, { types: ["node"] })
  cpSync(join(root, "examples", "quickstart.ts"), join(full, "quickstart.ts"))
  install(
    full,
    tarball,
    ...locked("effect", "@effect/platform", "@effect/platform-node", "ioredis", "jose", "typescript", "@types/node")
  )
  say("everything is installed with all peers")
  compile(full)
  execute(full, "modules.js")
  run(full, process.execPath, "closed.mjs")
  say("closed.mjs finds closed what is not exported")
  execute(full, "quickstart.js")
}

try {
  main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

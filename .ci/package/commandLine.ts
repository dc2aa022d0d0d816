/**
 * Runs the command line of the installed package on each runtime that the guide names, over TLS against an embedded tenant of its own.
 * It is started as users start it there, and must find all that it needs in the project: the registry cannot be reached.
 */
import { Effect } from "effect"
import assert from "node:assert/strict"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Tenant from "../../src/Tenant.js"
import { binary } from "../../test/runtimes/packages.js"
import { authority, issuedCert } from "../../test/support/certificate.js"
import { tlsTenant } from "../../test/support/tlsTenant.js"
import { chosenLine, effect3 } from "../line.js"

const { actions: [action], streams: [stream] } = Tenant.demo
const [first, second] = stream.events

interface Kind {
  readonly name: string
  readonly program: string | undefined
  /** What comes before the command's own arguments. */
  readonly args: ReadonlyArray<string>
}

const kinds = (): ReadonlyArray<Kind> => [
  ...(chosenLine === effect3 ? [20, 22, 24] : [22, 24]).map((major): Kind => ({
    name: `Node ${major}`,
    program: binary(`node${major}`, "bin/node"),
    args: [join("node_modules", "effect-identity-client", "dist", "cli", "bin.js")]
  })),
  { name: "Bun", program: binary("bun", "bin/bun"), args: ["x", "--bun", "--no-install", "effect-identity-client"] },
  {
    name: "Deno",
    program: binary("deno", "deno"),
    args: ["run", "-A", join("node_modules", "effect-identity-client", "dist", "cli", "bin.js")]
  }
]

type Variables = Readonly<Record<string, string | undefined>>

interface Ran {
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command with this text as its standard input, for at most a minute. */
const runner =
  ({ args, program = "" }: Kind, cwd: string, env: Variables) =>
  (command: ReadonlyArray<string>, { input = "", variables = {} }: { input?: string; variables?: Variables } = {}) =>
    new Promise<Ran>((resolve) => {
      const options = { cwd, env: { ...env, ...variables }, timeout: 60_000 }
      const child = execFile(
        program,
        [...args, ...command],
        options,
        (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : error.code ?? error.signal ?? null, stdout, stderr })
      )
      child.stdin?.end(input)
    })

type Run = ReturnType<typeof runner>

/** Checks texts that need no tenant, and the exit code of a wrong command. */
const tryTexts = async (run: Run, version: string) => {
  assert.deepEqual(await run(["--version"]), { code: 0, stdout: `${version}\n`, stderr: "" })
  const help = await run(["--help"])
  assert.deepEqual([help.code, help.stderr], [0, ""])
  assert.match(help.stdout, /^effect-identity-client .*\n[^]*\nCommands\n {2}export {6}Exports users/)
  const wrong = await run(["nonsense"])
  assert.deepEqual([wrong.code, wrong.stdout], [2, ""])
  assert.match(wrong.stderr, /^There is no command "nonsense"\.\n/)
  // The packages of `generate` are not installed.
  const generate = await run(["generate", "--spec", "none", "--out", "none"])
  assert.equal(generate.code, 1)
  assert.match(generate.stderr, /npm install --save-dev/)
}

const jsonLines = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text.trim().split("\n").map((line) => JSON.parse(line))

const tryJobs = async (run: Run, folder: string) => {
  const versions = await run(["versions", action.id, "--json"])
  assert.deepEqual([versions.code, versions.stderr], [0, ""])
  assert.deepEqual(jsonLines(versions.stdout).map(({ number }) => number), [3, 2, 1])

  const diff = await run(["diff", action.id])
  assert.deepEqual([diff.code, diff.stderr], [0, ""])
  assert.match(diff.stdout, /^--- code of #2\n/)

  const out = join(folder, "users.json")
  const users = await run(["export", "--out", out, "--json"])
  assert.deepEqual([users.code, users.stderr], [0, ""])
  const [file] = jsonLines(users.stdout)
  assert.equal(file?.["rows"], 100)
  assert.equal(jsonLines(readFileSync(out, "utf8")).length, 100)
  assert.deepEqual(readdirSync(folder), ["users.json"])

  const deliveries = await run(["deliveries", stream.id, "--json"])
  assert.deepEqual([deliveries.code, deliveries.stderr], [0, ""])
  assert.deepEqual(jsonLines(deliveries.stdout).map(({ id }) => id), [first.id, second.id])

  const refused = await run(["versions", action.id], { variables: { IDENTITY_CLIENT_SECRET: "wrong" } })
  assert.deepEqual([refused.code, refused.stdout], [1, ""])
  assert.match(
    refused.stderr,
    /\nTokenError: listActionVersions: the token endpoint of \S+ responded with status 401 \(invalid_client\).*\n$/
  )
}

/** The connection breaks while the second event is sent: the command cannot know whether it was accepted, and sends it once. */
const tryRedelivery = async (run: Run, folder: string) => {
  const args = ["redeliver", stream.id, "--concurrency", "1", "--json", "--journal", join(folder, "journal")]
  const { code, stdout } = await run(args, { input: `${first.id}\n${second.id}\n` })
  const outcomes = jsonLines(stdout).flatMap(({ id, outcome }) => id === undefined ? [] : [[id, outcome]])
  assert.deepEqual([code, outcomes], [3, [[first.id, "accepted"], [second.id, "unknown"]]])
}

/** The command's own tenant serves until Ctrl-C. */
const tryTenant = async ({ args, program = "" }: Kind, cwd: string, env: Variables) => {
  const child = spawn(program, [...args, "tenant", "--port", "0", "--json"], {
    cwd,
    env: { ...env },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000)
  const exit = once(child, "exit")
  const [line] = await once(child.stdout, "data")
  child.stdout.resume()
  const { IDENTITY_AUTH_URL: origin }: { IDENTITY_AUTH_URL: string } = JSON.parse(String(line))
  const response = await fetch(`${origin}/openapi.json`)
  await response.arrayBuffer()
  // Its script is in a peer of the package.
  const page = await (await fetch(`${origin}/docs`)).text()
  child.kill("SIGINT")
  const [code] = await exit
  clearTimeout(timer)
  assert.deepEqual([response.status, code], [200, 130])
  assert.match(page, /SwaggerUIBundle/)
}

const tryOn = (kind: Kind, directory: string, version: string, say: (text: string) => void) =>
  Effect.gen(function*() {
    const started = performance.now()
    const { host, tenant } = yield* tlsTenant({}, issuedCert)
    const folder = join(directory, kind.name)
    const certificate = join(directory, `${kind.name}.pem`)
    mkdirSync(folder)
    writeFileSync(certificate, authority)
    const env = {
      ...process.env,
      npm_config_registry: "http://127.0.0.1:9",
      NPM_CONFIG_REGISTRY: "http://127.0.0.1:9",
      NODE_EXTRA_CA_CERTS: certificate,
      IDENTITY_DOMAIN: host,
      IDENTITY_CLIENT_ID: "demo-full",
      IDENTITY_CLIENT_SECRET: "demo-full-secret"
    }
    const run = runner(kind, directory, env)
    yield* Effect.promise(() => tryTexts(run, version))
    yield* Effect.promise(() => tryJobs(run, folder))
    yield* tenant.injectFault({ operation: "redeliverEvent", status: 202, body: {} })
    yield* tenant.injectFault({ operation: "redeliverEvent", cut: "before", carriedOut: true })
    yield* Effect.promise(() => tryRedelivery(run, folder))
    const sent = (yield* tenant.requests).filter(({ operation }) => operation === "redeliverEvent")
    assert.equal(sent.length, 2, "a redelivery was sent twice")
    yield* Effect.promise(() => tryTenant(kind, directory, env))
    say(`${kind.name}: all commands, in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  }).pipe(Effect.scoped)

/** Tries all runtimes for which there is a package on this machine. Gives their names. */
export const tryCommandLine = async (directory: string, version: string, say: (text: string) => void) => {
  const chosen = kinds().filter(({ program }) => program !== undefined)
  await Effect.runPromise(
    Effect.forEach(chosen, (kind) => tryOn(kind, directory, version, say), { concurrency: "unbounded", discard: true })
  )
  return chosen.map(({ name }) => name)
}

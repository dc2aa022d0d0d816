/** Bundles scripts and runs them alternately, each in a process of its own. */
import type { BuildOptions } from "esbuild"
import { execFile } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { promisify } from "node:util"
import { responseBodies, token } from "../calls/payloads.js"

export const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN

const run = promisify(execFile)

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: ReadonlyArray<string>]

interface Settings {
  readonly rounds: number
  readonly env?: NodeJS.ProcessEnv
}

/** Runs commands alternately. Returns the output and the total time of each command in every round. */
export const runAlternately = async (commands: ReadonlyArray<Command>, { env = process.env, rounds }: Settings) => {
  const results = commands.map((): Array<{ readonly millis: number; readonly output: string }> => [])
  for (let round = -1; round < rounds; round++) {
    for (const [index, [program, ...args]] of commands.entries()) {
      const startedAt = performance.now()
      const { stdout } = await run(program, args, { env })
      // The first round only fills the disk cache.
      if (round >= 0) results[index]?.push({ millis: performance.now() - startedAt, output: stdout.trim() })
    }
  }
  return results
}

/** How a program for Node is bundled. */
export const programOptions = {
  outExtension: { ".js": ".mjs" },
  bundle: true,
  minify: true,
  format: "esm",
  platform: "node",
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
  logLevel: "error"
} satisfies BuildOptions

/** Serves a token and a list of one version, while `use` runs. */
export const withServer = async <A>(use: (origin: string) => Promise<A>): Promise<A> => {
  const grant = { access_token: token, token_type: "Bearer", expires_in: 86_400 }
  const server = createServer(({ url }, response) => {
    const body = url?.startsWith("/oauth/") === true ? grant : responseBodies.small
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // sound: the server listens on TCP
  try {
    return await use(`http://127.0.0.1:${port}`)
  } finally {
    server.close()
  }
}

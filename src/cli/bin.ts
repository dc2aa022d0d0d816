#!/usr/bin/env node
/** Starts the command. `--version` loads nothing else. */
import { readFileSync } from "node:fs"

// Output that nobody reads any more ends the command as Ctrl-C does; what it still writes is lost. Another error fails it.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "EOF") throw error
    process.emit("SIGINT")
  })
}

const args = process.argv.slice(2)

if (args[0] === "--version") {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  )
  process.stdout.write(`${version}\n`)
} else (await import("./main.js")).main(args)

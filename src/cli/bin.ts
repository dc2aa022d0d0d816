#!/usr/bin/env node
/** Starts the command. `--version` loads nothing else. */
import { readFileSync } from "node:fs"

if (process.argv[2] === "--version") {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8")
  )
  process.stdout.write(`${version}\n`)
} else (await import("./main.js")).main(process.argv.slice(2))

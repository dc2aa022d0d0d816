#!/usr/bin/env node
/** Starts the command, if the packages that it needs are installed. */

const packages =
  "@effect/cli @effect/platform-node @seriousme/openapi-schema-validator @dprint/formatter @dprint/typescript yaml"

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND"

try {
  const { main } = await import("./command.js")
  main(process.argv)
} catch (error) {
  if (!isMissing(error)) throw error
  process.stderr.write(
    `${String(error)}\nThe command needs packages that the library does not: npm install --save-dev ${packages}\n`
  )
  process.exitCode = 1
}

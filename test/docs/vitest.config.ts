/** Runs the tests of the documentation. They need Chromium and the output of `npm run docs`. */
import { mergeConfig } from "vitest/config"
import base from "../vitest.config.js"

const { test, ...rest } = base

export default mergeConfig(rest, { test: { ...test, include: ["test/docs/**/*.browser.ts"] } })

/** How the tests of the documentation run: they need a Chromium, and what `npm run docs` has made. */
import { mergeConfig } from "vitest/config"
import base from "../vitest.config.js"

const { test, ...rest } = base

export default mergeConfig(rest, { test: { ...test, include: ["test/docs/**/*.browser.ts"] } })

/** Finds and starts the system's Chromium, without a window. */
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { type Browser, chromium } from "playwright-core"

/** Returns the path in `CHROMIUM`, or of Chromium in `PATH`; `undefined` if it is not installed. */
export const executable = (): string | undefined => {
  // The headless shell comes first: with it, the tests take less than half the processor time.
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const candidates = [
    process.env["CHROMIUM"] ?? "",
    ...names.flatMap((name) => folders.map((folder) => join(folder, name)))
  ]
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return path !== ""
    } catch {
      return false
    }
  })
}

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Starts Chromium with a temporary profile. */
export const launch = (executablePath: string, flags: ReadonlyArray<string> = []): Promise<Browser> =>
  chromium.launch({ executablePath, headless: true, args: [...args, ...flags] })

/** Opens pages in the system's Chromium, without a window, and checks them. */
import { Context, Effect, Layer, type Scope } from "effect"
import { join } from "node:path"
import type { Browser as Chromium, Page } from "playwright-core"
import { executable, launch } from "../support/chromium.js"

/** The browser, with a temporary profile. */
export class Browser extends Context.Tag("test/Browser")<Browser, Chromium>() {
  static readonly layer = Layer.scoped(
    Browser,
    Effect.acquireRelease(
      Effect.suspend(() => {
        const path = executable()
        return path === undefined
          ? Effect.dieMessage("Chromium is not installed; set CHROMIUM to its path")
          : Effect.promise(() => launch(path))
      }),
      (browser) => Effect.promise(() => browser.close())
    )
  )
}

/** Widths of a phone and a desktop screen, each in light and dark colours. */
const allViews = [390, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme, name: `${width} px, ${colorScheme}` }))
)

/** All views for pictures. Otherwise each width and each colour scheme once: they do not depend on each other. */
export const views = process.env["SCREENSHOTS"] === undefined
  ? allViews.filter(({ colorScheme, width }) => (width === 390) === (colorScheme === "light"))
  : allViews

export type View = (typeof views)[number]

/** Open page, with its problems: errors, warnings, and requests to other origins. */
export interface Opened {
  readonly page: Page
  readonly problems: ReadonlyArray<string>
}

export const open = (url: string, { colorScheme, width }: View): Effect.Effect<Opened, never, Browser | Scope.Scope> =>
  Effect.gen(function*() {
    const browser = yield* Browser
    const problems: Array<string> = []
    const page = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newPage({ viewport: { width, height: 800 }, colorScheme })),
      (page) => Effect.promise(() => page.close())
    )
    page.setDefaultTimeout(60_000) // a machine may be slow
    page.on("pageerror", (error) => problems.push(error.message))
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") problems.push(message.text())
    })
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url())
      if (protocol !== "data:" && origin !== new URL(url).origin) problems.push(`requests ${request.url()}`)
    })
    yield* Effect.promise(() => page.goto(url))
    return { page, problems }
  })

/** Shows an open page in another view. */
export const change = (page: Page, { colorScheme, width }: View) =>
  Effect.promise(async () => {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme })
  })

/** Returns by how many pixels a page is wider than its window. */
export const overflow = (page: Page) =>
  Effect.promise(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))

/** Lists texts with a contrast below 4.5 to 1 (WCAG AA), each combination of colours once. */
export const faint = (page: Page) =>
  Effect.promise(() =>
    page.evaluate(() => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!
      const pixels = new Map<string, ReadonlyArray<number>>()
      const pixel = (...colours: ReadonlyArray<string>) => {
        const key = colours.join()
        const known = pixels.get(key)
        if (known !== undefined) return known
        canvas.clearRect(0, 0, 1, 1)
        for (const colour of colours) {
          canvas.fillStyle = colour
          canvas.fillRect(0, 0, 1, 1)
        }
        const found = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
        pixels.set(key, found)
        return found
      }
      const luminance = (rgb: ReadonlyArray<number>) => {
        const [r = 0, g = 0, b = 0] = rgb.map((value) =>
          value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4
        )
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
      }
      const behind = (element: Element | null): Array<string> =>
        element === null ? ["white"] : [...behind(element.parentElement), getComputedStyle(element).backgroundColor]
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const found = new Set<string>()
      while (walker.nextNode() !== null) {
        const element = walker.currentNode.parentElement
        if (element === null || walker.currentNode.textContent?.trim() === "" || !element.checkVisibility()) continue
        const [back, text] = [behind(element), getComputedStyle(element).color]
        const [a, b] = [luminance(pixel(...back)), luminance(pixel(...back, text))]
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
        if (ratio < 4.5) {
          found.add(`${ratio.toFixed(1)} ${text} on ${pixel(...back).join()}: ${element.outerHTML.slice(0, 120)}`)
        }
      }
      return [...found]
    })
  )

/** Saves a screenshot in the folder `SCREENSHOTS`, if it is set. */
export const picture = (page: Page, name: string) => {
  const folder = process.env["SCREENSHOTS"]
  return folder === undefined
    ? Effect.void
    : Effect.promise(() => page.screenshot({ path: join(folder, `${name.replace(/\W+/g, "-")}.png`), fullPage: true }))
}

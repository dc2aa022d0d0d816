/** Draws the results: for each scenario and client a bar, as long as the cost of a call relative to undici's. */
import type { Result } from "./measure.js"
import { groups, ratio, titles } from "./result.js"

const [width, left, right, row, gap, top] = [760, 130, 60, 18, 46, 58] as const

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** Follows the light or dark mode of the reader's device. */
const style = `<style>
text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.note { fill: #57606a }
.other { fill: #8c959f }
.ours { fill: #0969da }
.floor { stroke: #57606a; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .note { fill: #9198a1 }
  .other { fill: #6e7681 }
  .ours { fill: #4493f8 }
  .floor { stroke: #9198a1 }
}
</style>`

const panel = (all: ReadonlyArray<Result>, results: ReadonlyArray<Result>, y: number): string => {
  const [{ concurrency, payload } = { concurrency: 0, payload: "small" as const }] = results
  const bars = results.map((result) => ({ name: result.client, times: ratio(all, result, "undici") ?? 0 }))
  const scale = (width - left - right) / Math.max(...bars.map(({ times }) => times))
  const lines = bars.map(({ name, times }, index) => {
    const at = y + 10 + index * row
    const kind = name.startsWith("ours") ? "ours" : "other"
    const end = left + times * scale
    return [
      `<text x="${left - 8}" y="${at + 12}" text-anchor="end">${escape(name)}</text>`,
      `<rect class="${kind}" x="${left}" y="${at + 2}" width="${(times * scale).toFixed(1)}" height="${
        row - 5
      }" rx="2"/>`,
      `<text class="note" x="${(end + 6).toFixed(1)}" y="${at + 12}">${times.toFixed(2)}</text>`
    ].join("\n")
  })
  const floor = (left + scale).toFixed(1)
  return [
    `<text class="title" x="0" y="${y}">${escape(`${titles[payload]}, ${concurrency} at a time`)}</text>`,
    `<line class="floor" x1="${floor}" x2="${floor}" y1="${y + 8}" y2="${y + 12 + bars.length * row}"/>`,
    ...lines
  ].join("\n")
}

/** Returns an SVG image. */
export const plot = (results: ReadonlyArray<Result>): string => {
  let y: number = top
  const panels = groups(results).map((some) => {
    const drawn = panel(results, some, y)
    y += some.length * row + gap
    return drawn
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y - 20}" width="${width}" role="img">`,
    "<title>Processor time per call, as a multiple of undici.request with JSON.parse</title>",
    style,
    `<text class="title" x="0" y="16">Processor time per call</text>`,
    `<text class="note" x="0" y="33">as a multiple of undici.request with JSON.parse; shorter is better</text>`,
    ...panels,
    "</svg>",
    ""
  ].join("\n")
}

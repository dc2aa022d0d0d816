/** Draws the results, as wide as a phone: for each scenario and client a dot for the cost of a call, and a line for its spread. */
import { type Figures, groups, type Row, titles } from "./result.js"

const [width, left, right, row, gap, top] = [390, 116, 52, 18, 60, 84] as const

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** Follows the light or dark mode of the reader's device. */
const style = `<style>
text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.note { fill: #57606a }
.tick { stroke: #d0d7de }
.undici { stroke: #57606a; stroke-dasharray: 3 3 }
.other { fill: #6e7781; stroke: #6e7781 }
.ours { fill: #0969da; stroke: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .note { fill: #9198a1 }
  .tick { stroke: #3d444d }
  .undici { stroke: #9198a1 }
  .other { fill: #9198a1; stroke: #9198a1 }
  .ours { fill: #4493f8; stroke: #4493f8 }
}
</style>`

/** Cost of a client's calls as multiples of undici's median in the same scenario. */
interface Mark {
  readonly name: string
  readonly median: number
  readonly least: number
  readonly most: number
}

const mark = ({ client: name, cpuUs: { least, median, most }, ratioUndici: times = Number.NaN }: Row): Mark => ({
  name,
  median: times,
  least: least / median * times,
  most: most / median * times
})

/** Logarithmic scale with a tick for each power of two, wide enough for all marks. */
const scaleOf = (marks: ReadonlyArray<Mark>) => {
  const first = Math.floor(Math.log2(Math.min(...marks.map(({ least }) => least))))
  const last = Math.ceil(Math.log2(Math.max(...marks.map(({ most }) => most))))
  const x = (times: number) => (left + (Math.log2(times) - first) / (last - first) * (width - left - right)).toFixed(1)
  return { x, ticks: Array.from({ length: last - first + 1 }, (_, index) => 2 ** (first + index)) }
}

const panel = (
  title: string,
  marks: ReadonlyArray<Mark>,
  { ticks, x }: ReturnType<typeof scaleOf>,
  y: number
): string => {
  const bottom = y + 10 + marks.length * row
  return [
    `<text class="title" x="0" y="${y}">${escape(title)}</text>`,
    ...ticks.map((times) =>
      `<path class="${times === 1 ? "undici" : "tick"}" d="M${x(times)} ${y + 8}V${bottom}"/>
<text class="note" x="${x(times)}" y="${bottom + 15}" text-anchor="middle">${times}×</text>`
    ),
    ...marks.map(({ least, median, most, name }, index) => {
      const at = y + 19 + index * row
      return `<text x="${left - 10}" y="${at + 4}" text-anchor="end">${escape(name)}</text>
<g class="${name.startsWith("ours") ? "ours" : "other"}"><path stroke-width="2" d="M${x(least)} ${at}H${x(most)}"/>` +
        `<circle cx="${x(median)}" cy="${at}" r="4"/></g>
<text class="note" x="${width}" y="${at + 4}" text-anchor="end">${median.toFixed(2)}×</text>`
    })
  ].join("\n")
}

/** Returns an SVG image. */
export const plot = (figures: Figures): string => {
  const scale = scaleOf(figures.rows.map(mark))
  let y: number = top
  const panels = groups(figures).map((some) => {
    const [{ concurrency, payload } = { concurrency: 0, payload: "small" as const }] = some
    const drawn = panel(
      `${titles[payload]}, ${concurrency} at a time`,
      some.map(mark),
      scale,
      y
    )
    y += some.length * row + gap
    return drawn
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y - 30}" width="${width}" role="img">`,
    "<title>Processor time per call, as a multiple of undici.request with JSON.parse</title>",
    style,
    `<text class="title" x="0" y="16">Processor time per call</text>`,
    `<text class="note" x="0" y="33">as a multiple of undici.request with JSON.parse; less is better</text>`,
    `<text class="note" x="0" y="50">dot: median of ${figures.rounds} rounds; line: least to most; logarithmic scale</text>`,
    ...panels,
    "</svg>",
    ""
  ].join("\n")
}

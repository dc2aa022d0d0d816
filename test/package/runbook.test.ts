/** Tests that the runbook quotes log lines and metrics as the sources have them, and leaves out no warning. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { guide } from "../support/documentation.js"

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readFileSync(`src/${name}`, "utf8"))

/** All texts in quotation marks or backticks, with `…` for what a template inserts. */
const literals = new Set(
  sources.flatMap((text) => [...text.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)])
    .map(([, quoted, template = ""]) => (quoted ?? template.replace(/\$\{[^{}]*\}/g, "…")).trim())
)

const text = guide("runbook").replace(/\n {2,}/g, " ")

/** The quoted texts of all lines that begin with this word, and of the table of alerts. */
const quoted = (lines: RegExp): ReadonlyArray<string> =>
  text.split("\n").filter((line) => lines.test(line))
    .flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, quote = ""]) => quote))

describe("the runbook", () => {
  it("quotes log lines as the sources write them", () => {
    const lines = quoted(/^- \*\*Log\*\*/).filter((quote) => quote.includes(" "))
    assert.isAbove(lines.length, 10)
    for (const line of lines) assert.isTrue(literals.has(line), line)
  })

  it("has every warning of the sources", () => {
    const warnings = sources.flatMap((text) =>
      [...text.matchAll(
        /(?:logWarning\(|logInfo\(|\.warn\(|\.info\()\s*(["`])([^]*?)\1|const warning =\s*(["`])([^]*?)\3/g
      )]
        .map(([, , direct, , named]) => (direct ?? named ?? "").replace(/\$\{[^{}]*\}/g, "…"))
    )
    assert.isAbove(warnings.length, 8)
    for (const warning of warnings) assert.include(text, `\`${warning}\``)
  })

  it("names metrics and tags that exist", () => {
    const metrics = quoted(/^(?:- \*\*Metric\*\*|\|)/).filter((quote) => quote.startsWith("identity."))
    assert.isAbove(metrics.length, 10)
    for (const metric of metrics) assert.isTrue(literals.has(metric), metric)
  })

  it("has a log line, a metric, and something to do, in each section of a symptom", () => {
    const sections = text.split(/^## /m).slice(1, -1)
    assert.isAbove(sections.length, 8)
    for (const section of sections) {
      const [title = ""] = section.split("\n")
      assert.match(section, /^- \*\*Log\*\*/m, title)
      assert.match(section, /^- \*\*Metric\*\*/m, title)
      assert.match(section, /^(?:- \*\*Do\*\*|1\. )/m, title)
      assert.isTrue(
        title.startsWith("Deploys") || text.includes(`(#${title.toLowerCase().replaceAll(" ", "-")})`),
        title
      )
    }
  })
})

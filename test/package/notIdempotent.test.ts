/** Tests that pages that say what is not retried name every operation that is declared as not idempotent. */
import { assert, describe, it } from "@effect/vitest"
import { docstring } from "../../.ci/docs/operationPage.js"
import { guide, page, pages } from "../support/documentation.js"
import { operations } from "../support/operations.js"

const names = operations.flatMap(({ endpoint: { idempotent, name } }) => idempotent ? [] : [name])

/** The section of a page below a heading, without those after it; the text before the first heading for `undefined`. */
const section = (text: string, heading?: string): string =>
  text.split(/^(?=## )/m).find((part) => heading === undefined || part.startsWith(`## ${heading}\n`)) ?? ""

/** What somebody reads who wants to know what the client does not retry, or what to do after an unknown outcome. */
const explanations = {
  "README, Operations": section(page("README.md"), "Operations"),
  "errors, TransportError": section(guide("errors"), "TransportError"),
  "faq, can it happen twice": guide("faq").split(/\n\n/).find((text) => text.includes("happen twice?**")) ?? "",
  "retries, the first part": section(guide("retries")),
  "runbook, Unknown outcomes": section(guide("runbook"), "Unknown outcomes"),
  "runtimes, Where a call is sent at most once": section(guide("runtimes"), "Where a call is sent at most once")
}

describe("operations that are not idempotent", () => {
  it("are four", () => {
    assert.sameMembers(names, ["createUsersExport", "deployActionVersion", "redeliverEvent", "redeliverEvents"])
  })

  for (const [what, text] of Object.entries(explanations)) {
    it(`are all named in ${what}`, () => {
      for (const name of names) assert.include(text, `\`${name}\``)
    })
  }

  it("are all in the runbook's filter of the metric, each with what to do", () => {
    const [, metric = ""] = /^- \*\*Metric\*\*: ([^]*?)^- /m.exec(explanations["runbook, Unknown outcomes"]) ?? []
    const [, remedy = ""] = /^- \*\*Do\*\*: ([^]*)$/m.exec(explanations["runbook, Unknown outcomes"]) ?? []
    for (const name of names) {
      assert.include(metric, `\`${name}\``)
      assert.include(remedy, `\`${name}\``)
    }
  })

  it("are nowhere cut down to exports and redeliveries of single events", () => {
    const shorthand =
      /\bexports? (?:and|or)(?: a)? redeliver(?:y|ies)\b|\bredeliver(?:y|ies) (?:and|or)(?: an)? exports?\b/i
    // A job is an export or a redelivery, and nothing else.
    for (const path of pages.filter((path) => !/\/(?:jobs|CHANGELOG)\.md$/.test(path))) {
      assert.notMatch(page(path).replace(/\s+/g, " "), shorthand, path)
    }
  })

  it("say so where editors show it, and only they do", () => {
    for (const { endpoint: { idempotent, name } } of operations) {
      assert.strictEqual(docstring(`operations/${name}.ts`, name).includes("Not idempotent"), !idempotent, name)
      assert.strictEqual(
        page(`examples/operations/${name}.md`).includes("- Retried after failures with an unknown outcome: no"),
        !idempotent,
        name
      )
    }
  })
})

/** Tests that links of the README and the other pages lead somewhere, and that the map of the sources is complete. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path/posix"
import { makeFormat } from "../../src/internal/fleet/snapshotFormat.js"
import { guide, page, pages } from "../support/documentation.js"

const withoutCode = (text: string): string => text.replace(/^```[^]*?^```/gm, "")

/** Anchors of a page's headings, as GitHub makes them. */
const anchors = (text: string): ReadonlyArray<string> =>
  [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-")
  )

describe("the pages", () => {
  for (const path of pages) {
    it(`${path} has only links that lead somewhere`, () => {
      const links = [...withoutCode(page(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link)
      const headings = anchors(page(path))
      assert.isAbove(headings.length, 0)
      for (const link of links.filter((link) => !link.startsWith("https://"))) {
        const [file = "", anchor] = link.split("#")
        const target = file === "" ? path : join(dirname(path), file)
        assert.isTrue(existsSync(target), link)
        if (anchor !== undefined) assert.include(anchors(page(target)), anchor, link)
      }
    })
  }

  it("link from each guide to the reference, and to each operation and module", () => {
    const guides = pages.filter((path) => path.startsWith("examples/guides/"))
    const links = guides.map((
      path
    ) => [...page(path).matchAll(/\]\(\.\.\/(operations\/\w+\.md|\.\.\/src\/\w+\.ts)\)/g)])
    for (const [index, path] of guides.entries()) assert.isNotEmpty(links[index] ?? [], path)
    const targets = new Set(links.flat().map(([, target = ""]) => target.replace("../", "")))
    const operations = readdirSync("examples/operations").filter((name) => name.endsWith(".md"))
    const modules = readdirSync("src").filter((name) => name.endsWith(".ts") && name !== "index.ts")
    assert.sameMembers([...targets], [
      ...operations.map((name) => `operations/${name}`),
      ...modules.map((name) => `src/${name}`)
    ])
  })

  it("name the versions of a fleet's stored values", () => {
    const [, token] = /^const version = (\d+)$/m.exec(readFileSync("src/internal/fleet/storedToken.ts", "utf8")) ?? []
    const named = [...guide("fleet").matchAll(/\b(?:limit|token):\d+:/g)].map(([key]) => key)
    assert.sameMembers(named, [makeFormat().keyOf(""), `token:${token}:`, `token:${token}:`])
  })

  it("list all folders of src, and all folders of tests", () => {
    const folders = (root: string) =>
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .map((name) => `${root}/${name.replaceAll("\\", "/")}`)
        .filter((path) => statSync(path).isDirectory())
    const listed = (path: string, name: RegExp) =>
      [...page(path).matchAll(/^\| `([\w/]+)` /gm)].map(([, folder = ""]) => folder).filter((folder) =>
        name.test(folder)
      )
    assert.sameMembers(listed(".github/CONTRIBUTING.md", /^src(\/|$)/), ["src", ...folders("src")])
    const suites = readdirSync("test").filter((name) => statSync(`test/${name}`).isDirectory())
    assert.sameMembers(listed("test/README.md", /^[a-z]+$/), suites)
  })
})

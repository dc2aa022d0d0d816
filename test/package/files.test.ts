/** Tests that what the package contains leads to nothing that it lacks. */
import { assert, describe, it } from "@effect/vitest"
import { execSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path/posix"

const [{ files }]: readonly [{ files: ReadonlyArray<{ path: string }> }] = JSON.parse(
  execSync("npm pack --dry-run --json --ignore-scripts --silent", { encoding: "utf8", maxBuffer: 2 ** 26 })
)
const packed = files.map(({ path }) => path)

/** What packed files with an ending name by a relative path, without fenced code. */
const named = (ending: RegExp, reference: RegExp): ReadonlyArray<readonly [from: string, to: string]> =>
  packed.filter((path) => ending.test(path)).flatMap((from) =>
    Array.from(
      readFileSync(from, "utf8").replace(/^```[^]*?^```/gm, "").matchAll(reference),
      ([, path = ""]) => [from, join(dirname(from), path)] as const
    )
  )

describe("the package", () => {
  it("has all files and folders to which its pages have links, and all pictures", () => {
    const links = named(/\.md$/, /(?:\]\(|src=")(?!https?:|#)([^)#"\s]+)/g)
    assert.isAbove(links.filter(([from]) => from === "README.md").length, 20)
    assert.isAbove(links.filter(([, to]) => to.startsWith(".assets/")).length, 3)
    for (const [from, to] of links) {
      assert.isTrue(packed.some((path) => path === to || path.startsWith(`${to}/`)), `${from}: ${to}`)
    }
  })

  it("has all files that its examples import", () => {
    const imports = named(/^examples\/.*\.ts$/, /from "(\.{1,2}\/[^"]+)\.js"/g)
    assert.isAbove(imports.length, 5)
    for (const [from, to] of imports) assert.include(packed, `${to}.ts`, from)
  })

  it("has the sources of public modules only, and no pages of the repository", () => {
    const others = packed.filter((path) =>
      !/^(?:dist|examples|\.assets)\/|^(?:src\/(?:operations\/)?\w+\.ts|package\.json|README\.md|LICENSE)$/.test(path)
    )
    assert.sameMembers(others, [".github/CHANGELOG.md", ".github/SECURITY.md"])
  })
})

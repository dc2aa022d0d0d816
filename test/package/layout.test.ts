/** Tests the layout of `src`: folders for subjects, few files in each, and short files. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => /\.tsx?$/.test(file))

describe("src", () => {
  it("has nothing but folders in internal, each of at most fourteen files", () => {
    const folders = files.filter((file) => file.startsWith("internal/")).map((file) => file.replace(/\/[^/]*$/, ""))
    assert.isAbove(folders.length, 50)
    assert.notInclude(folders, "internal")
    for (const folder of new Set(folders)) assert.isAtMost(folders.filter((name) => name === folder).length, 14, folder)
  })

  it("has no file of more than 350 lines", () => {
    const long = files.filter((file) => readFileSync(`src/${file}`, "utf8").trimEnd().split("\n").length > 350)
    assert.deepStrictEqual(long, [])
  })
})

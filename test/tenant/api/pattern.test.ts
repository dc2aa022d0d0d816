/** Tests of the texts that are made for a regular expression. */
import { assert, describe, it } from "@effect/vitest"
import { textsOf } from "../../../src/tenant/api/pattern.js"

/** All texts that are made, each once. */
const all = (pattern: string, fits: (text: string) => boolean = () => true): ReadonlyArray<string> =>
  [...new Set(textsOf(pattern, fits))].sort()

describe("the texts of a pattern", () => {
  for (
    const [title, pattern, texts] of [
      ["has what looks ahead after a class", "^[ab](?!c)[a-c]$", ["aa", "ab", "ba", "bb"]],
      ["has what looks ahead after a parenthesis in a class", "^[(](?=a)a$", ["(a"]],
      ["has what looks ahead around a group", "^(?=(?:a)b)ab$", ["ab"]],
      ["only seems to look ahead in a class", "^[\\](?=]$", ["(", "=", "?", "]"]],
      ["only seems to look ahead after an escape", "^\\(?=b$", ["(=b", "=b"]]
    ] as const
  ) {
    it(`are all made if it ${title}`, () => assert.deepStrictEqual(all(pattern), texts))
  }

  it("are only those that fit", () => assert.deepStrictEqual(all("^[ab]$", (text) => text !== "a"), ["b"]))

  it("are as many as asked for", () => assert.deepStrictEqual(textsOf("^a$", () => true, 3), ["a", "a", "a"]))

  for (const pattern of ["[a", "(?=a", "^(a)\\1$"]) {
    it(`are none if no text can be made of it: ${pattern}`, () => assert.deepStrictEqual(all(pattern), []))
  }
})

/** Tests of JSON with numbers that JavaScript cannot hold: no digit is lost, and all else is as `JSON.parse` has it. */
import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import { parseJson } from "../../src/internal/runtime/parseJson.js"

const parsed = (text: string): unknown => Either.getOrThrow(parseJson(text))

describe("parseJson", () => {
  it.each<readonly [text: string, value: unknown]>([
    ["9007199254740991", 9007199254740991],
    ["-9007199254740991", -9007199254740991],
    ["9007199254740992", 9007199254740992],
    ["100000000000000000000", 1e20],
    ["1152921504606847000", 2 ** 60],
    ["100000000000000000000000", "100000000000000000000000"],
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993", "-9007199254740993"],
    [" 9007199254740993 ", "9007199254740993"],
    ["[1,9007199254740993,\t123456789012345678901234567890]", [
      1,
      "9007199254740993",
      "123456789012345678901234567890"
    ]],
    ["{\"a\":{\"b\":9007199254740993},\"c\":1}", { a: { b: "9007199254740993" }, c: 1 }],
    ["{\"a\":\n9007199254740993}", { a: "9007199254740993" }],
    ["[1e400,-1E+999,1e-400]", ["1e400", "-1E+999", 0]],
    ["[1e300,0.12345678901234567890,1234567890123456.7]", [1e300, 0.12345678901234568, 1234567890123456.8]],
    ["[1e100,9007199254740993]", [1e100, "9007199254740993"]]
  ])("parses %s", (text, value) => assert.deepStrictEqual(parsed(text), value))

  it.each([
    "a, 9007199254740993",
    "[9007199254740993]",
    "\": 9007199254740993",
    "\\\": 9007199254740993, \\\\",
    "\\",
    "\\\\\" 9007199254740993"
  ])("leaves the digits in the string %j", (inner) => {
    const value = { [inner]: inner, id: 1, after: [inner] }
    const lost = `${JSON.stringify(value).slice(0, -1)},"n":9007199254740993}`
    assert.deepStrictEqual(parsed(lost), { ...value, n: "9007199254740993" })
  })

  it("refuses what JSON.parse refuses, whatever numbers it has", () => {
    const refused = [
      "{9007199254740993: 1}",
      "[00009007199254740993]",
      "[+9007199254740993]",
      "[9007199254740993",
      "[9007199254740993.]",
      "[\"a\" 9007199254740993]",
      "\": 9007199254740993"
    ]
    assert.deepStrictEqual(refused.filter((text) => Either.isRight(parseJson(text))), [])
  })

  it("keeps a field named __proto__", () => {
    const value = parsed("{\"__proto__\":9007199254740993}")
    assert.deepStrictEqual(Object.entries(value as object), [["__proto__", "9007199254740993"]])
  })

  it("is JSON.parse for any JSON without such a number, beside one that has it", () => {
    FastCheck.assert(FastCheck.property(FastCheck.json(), (text) => {
      const value: unknown = JSON.parse(text)
      assert.deepStrictEqual(parsed(text), value)
      assert.deepStrictEqual(parsed(`[${text},9007199254740993,${text}]`), [value, "9007199254740993", value])
    }))
  })

  it("keeps the value of each integer", () => {
    FastCheck.assert(FastCheck.property(FastCheck.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (integer) => {
      const [value] = parsed(`[${integer}]`) as ReadonlyArray<unknown>
      assert.isTrue(String(value) === String(integer) || BigInt(value as number) === integer)
    }))
  })
})

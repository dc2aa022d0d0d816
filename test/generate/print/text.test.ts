/** Tests how texts of a document get into code: as strings, names and comments. */
import { assert, describe, it } from "@effect/vitest"
import { docComment, key, paragraphs, quote } from "../../../src/generate/print/text.js"

describe("a string", () => {
  it("is written with escapes for what ends it or cannot be seen", () => {
    assert.strictEqual(quote("plain é"), "\"plain é\"")
    assert.strictEqual(quote("\"\\\n"), "\"\\\"\\\\\\n\"")
    assert.strictEqual(quote("~\u007f\u0085\u009f\u00a0"), "\"~\\u007f\\u0085\\u009f\u00a0\"")
    assert.strictEqual(quote("\u2028\u2029\ufeff"), "\"\\u2028\\u2029\\ufeff\"")
  })

  it("is the name of a field without quotes if it is an identifier", () => {
    const names = ["a", "_a$1", "constructor", "1a", "a-b", "", "é"]
    assert.deepStrictEqual(names.map(key), ["a", "_a$1", "constructor", "\"1a\"", "\"a-b\"", "\"\"", "\"é\""])
  })
})

describe("the paragraphs of a text", () => {
  const texts: ReadonlyArray<readonly [text: string | undefined, expected: ReadonlyArray<string>]> = [
    [undefined, []],
    ["", []],
    [" \n\t\r\n ", []],
    ["One line.", ["One line."]],
    ["  One\nparagraph \t in\r\n  three lines.\n", ["One paragraph in three lines."]],
    ["One.\n\nTwo.", ["One.", "Two."]],
    ["One.\r\n\r\nTwo.", ["One.", "Two."]],
    ["One.\n \t \nTwo.\n\n\n\nThree.\n\n", ["One.", "Two.", "Three."]],
    ["a\u0000b\u2028\u2029c\u200b\u00a0d", ["a b c d"]],
    ["ends */ a comment */", ["ends *\\/ a comment *\\/"]],
    ["@see x@example.com @todo\n\n@deprecated", ["\\@see x@example.com \\@todo", "\\@deprecated"]]
  ]
  for (const [text, expected] of texts) {
    it(`are ${expected.length} in ${JSON.stringify(text)}`, () => {
      assert.deepStrictEqual(paragraphs(text), expected)
    })
  }
})

describe("a comment", () => {
  it("is empty if there is nothing to say", () => {
    assert.strictEqual(docComment([]), "")
  })

  it("has one line for one short paragraph", () => {
    assert.strictEqual(docComment(["One."]), "/** One. */\n")
    assert.strictEqual(docComment(["@deprecated"]), "/** @deprecated */\n")
  })

  it("has an empty line before each further paragraph, and none before a tag", () => {
    assert.strictEqual(
      docComment(["One.", "Two.", "@deprecated"]),
      "/**\n * One.\n *\n * Two.\n * @deprecated\n */\n"
    )
  })

  it("breaks lines that are longer than 116 characters", () => {
    const [a, b] = ["a".repeat(57), "b".repeat(58)]
    assert.strictEqual(docComment([`${a} ${b}`]), `/** ${a} ${b} */\n`)
    assert.strictEqual(docComment([`${a} ${b}b`]), `/**\n * ${a}\n * ${b}b\n */\n`)
    assert.strictEqual(docComment([`x ${a} ${a} ${b} y`]), `/**\n * x ${a}\n * ${a} ${b}\n * y\n */\n`)
  })

  it("keeps a word that is longer than a line", () => {
    const word = "w".repeat(120)
    assert.strictEqual(docComment([word]), `/** ${word} */\n`)
    assert.strictEqual(docComment([`${word} a ${word}`]), `/**\n * ${word}\n * a\n * ${word}\n */\n`)
  })
})

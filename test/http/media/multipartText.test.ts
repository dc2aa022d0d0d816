/** Tests of the text of multipart bodies: its parts to the letter, and what they cannot carry. */
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Stream } from "effect"
import { encode } from "../../../src/internal/http/media/multipart.js"

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** The content type and the text of a body, with a boundary that is always the same. */
const written = (fields: Readonly<Record<string, unknown>>) =>
  Effect.gen(function*() {
    const { body, contentType } = Either.getOrThrow(encode(fields))
    const made = body()
    const chunks = made._tag === "Uint8Array"
      ? [made.body]
      : made._tag === "Stream"
      ? Chunk.toReadonlyArray(yield* Stream.runCollect(made.stream))
      : []
    const text = new TextDecoder().decode(Buffer.concat(chunks))
    const [, boundary = ""] = contentType.split("boundary=")
    assert.match(boundary, /^identity-[a-z0-9]{18,36}$/)
    assert.strictEqual(made._tag === "Empty" ? undefined : made.contentType, contentType)
    return { tag: made._tag, contentType: contentType.replace(boundary, "B"), text: text.replaceAll(boundary, "B") }
  })

/** A body of these parts, whose lines end as they must. */
const ofParts = (...parts: ReadonlyArray<ReadonlyArray<string>>) =>
  [...parts.flatMap((lines) => ["--B", ...lines]), "--B--", ""].join("\r\n")

describe("a multipart body", () => {
  it.effect("is written to the letter, in the order of its fields", () =>
    Effect.gen(function*() {
      const fields = {
        "a\"b\rc\nd": "x \"y\"",
        number: -1.5,
        flag: false,
        file: { name: "ü \"1\"\r\n.txt", content: "é" },
        typed: { name: "t", contentType: "text/csv", content: bytesOf("1,2") }
      }
      assert.deepStrictEqual(yield* written(fields), {
        tag: "Uint8Array",
        contentType: "multipart/form-data; boundary=B",
        text: ofParts(
          ["Content-Disposition: form-data; name=\"a%22b%0Dc%0Ad\"", "", "x \"y\""],
          ["Content-Disposition: form-data; name=\"number\"", "", "-1.5"],
          ["Content-Disposition: form-data; name=\"flag\"", "", "false"],
          [
            "Content-Disposition: form-data; name=\"file\"; filename=\"ü %221%22%0D%0A.txt\"",
            "Content-Type: application/octet-stream",
            "",
            "é"
          ],
          ["Content-Disposition: form-data; name=\"typed\"; filename=\"t\"", "Content-Type: text/csv", "", "1,2"]
        )
      })
    }))

  it.effect("is written alike with a stream", () =>
    Effect.gen(function*() {
      const content = Stream.make(bytesOf("1,"), bytesOf("2"))
      assert.deepStrictEqual(yield* written({ a: "x", file: { name: "f", content } }), {
        tag: "Stream",
        contentType: "multipart/form-data; boundary=B",
        text: ofParts(
          ["Content-Disposition: form-data; name=\"a\"", "", "x"],
          [
            "Content-Disposition: form-data; name=\"file\"; filename=\"f\"",
            "Content-Type: application/octet-stream",
            "",
            "1,2"
          ]
        )
      })
    }))

  it("has a boundary of its own", () => {
    const [one, other] = [encode({}), encode({})].map(Either.getOrThrow)
    assert.notStrictEqual(one?.contentType, other?.contentType)
  })

  const only = "a multipart body can express only strings, numbers, booleans and files"
  const unicode = "expected well-formed Unicode"
  const content = "x"

  it.each<readonly [title: string, value: unknown, message: string]>([
    ["an object", { a: 1 }, only],
    ["a list", ["a"], only],
    ["null", null, only],
    ["NaN", NaN, "expected a finite number"],
    ["Infinity", Infinity, "expected a finite number"],
    ["half a character", "a\uD800", unicode],
    ["a file with half a character in its name", { name: "\uDC00", content }, unicode],
    ["a file with half a character in its text", { name: "f", content: "\uD800" }, unicode]
  ])("refuses %s by its path", (_, value, message) => {
    assert.deepStrictEqual(encode({ before: "x", field: value }), Either.left({ path: "field", message }))
  })

  it.effect.each([
    "a/b",
    "application/vnd.example+json",
    "text/csv; charset=utf-8",
    "text/csv ;header=present",
    "text/csv \t; a=\"b c\"",
    "text/csv;"
  ])("carries the media type %j", (contentType) =>
    Effect.gen(function*() {
      const { text } = yield* written({ file: { name: "f", contentType, content } })
      assert.strictEqual(
        text,
        ofParts([
          "Content-Disposition: form-data; name=\"file\"; filename=\"f\"",
          `Content-Type: ${contentType}`,
          "",
          content
        ])
      )
    }))

  it.each([
    "",
    "json",
    "a/",
    "/b",
    "a/b/c",
    " a/b",
    "a/b ",
    "a/b c",
    "a/b;\u00e9",
    "a/b\r\nx-evil: c",
    "a/b;\r\nx-evil: c",
    "x-evil: c\r\na/b"
  ])("refuses the media type %j", (contentType) => {
    const issue = { path: "file.contentType", message: "expected a media type" }
    assert.deepStrictEqual(encode({ file: { name: "f", contentType, content } }), Either.left(issue))
  })
})

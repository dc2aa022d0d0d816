/** Tests of bodies of the type `multipart/form-data`. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Schemas from "../../../src/Schemas.js"
import { parseBody } from "../../../src/tenant/server/requestInput.js"

const multipart = { count: Schema.Number, flag: Schema.Boolean, title: Schema.String, file: Schemas.File }

/** Writes the parts: each the parameters after its name, and its content. */
const write = (parts: ReadonlyArray<readonly [name: string, more: string, content: string]>) =>
  parts.map(([name, more, content]) =>
    `--B\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
  ).join("") + "--B--\r\n"

const parse = (content: string, contentType: string | undefined = "Multipart/Form-Data; boundary=B") =>
  parseBody({ multipart }, contentType, content)

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a multipart body", () => {
  it.effect("has texts, numbers and booleans as declared, and files", () =>
    Effect.gen(function*() {
      const named = "; filename=\"a b.csv\"\r\ncontent-type: "
      const content = write([
        ["count", "", "12"],
        ["flag", "", "true"],
        ["title", "", "12"],
        ["unknown", "", "12"],
        ["file", `${named}text/csv`, "id;name\r\n1;é"],
        ["untyped", `${named}té`, ""]
      ])
      assert.deepStrictEqual(
        yield* parse(content),
        Either.right({
          count: 12,
          flag: true,
          title: "12",
          unknown: "12",
          file: { name: "a b.csv", contentType: "text/csv", content: bytes("id;name\r\n1;é") },
          untyped: { name: "a b.csv", content: bytes("") }
        })
      )
    }))

  const twice = write([["title", "", "a"], ["title", "", "b"]])
  it.effect.each(
    [
      ["a field that is given twice", twice, undefined, { path: "title", message: "is given twice" }],
      ["another boundary", twice, "multipart/form-data; boundary=C", {
        path: "",
        message: "The body is not valid multipart/form-data"
      }],
      ["another type", "{}", "application/json", {
        path: "",
        message: "The content type application/json is not supported"
      }]
    ] as const
  )("is refused for %s", ([, content, contentType, error]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* parse(content, contentType), Either.left(error))
    }))
})

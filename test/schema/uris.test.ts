/** Tests of the format `uri`: it is strict by RFC 3986, and what a URL parser accepts in addition is none. */
import { assert, describe, it } from "@effect/vitest"
import * as Schemas from "../../src/Schemas.js"

describe("a URI", () => {
  it.each([
    "a:",
    "a+b-c.1:d",
    "http://a.b",
    "http://a.b:80",
    "http://u:p@a.b/",
    "http://[::1]/",
    "https://a.b/c@d/%41",
    "https://a.b?x=/?",
    "https://a.b#x=/?"
  ])("may be %s", (text) => {
    assert.isTrue(Schemas.uri.test(text))
  })

  it.each([
    ["a space", "https://a.b/c d"],
    ["a character that has to be escaped", "https://a.b/<c>"],
    ["an escape that is none", "https://a.b/%zz"],
    ["two users", "https://a@b@c"],
    ["two fragments", "urn:a?b#c#d"],
    ["a scheme that begins with a digit", "1a:b"],
    ["a port that is none", "http://a:99999/"],
    ["text after an address", "https://[::1]x/"],
    ["no scheme but a path", "a.b/c"]
  ])("may not have %s", (_, text) => {
    assert.isFalse(Schemas.uri.test(text))
  })
})

/** Tests of redacted texts: exactly what is hidden and where they are cut, and nothing beside it. */
import { assert, describe, it } from "@effect/vitest"
import { redact } from "../../src/internal/http/redact.js"

const long = "0123456789abcdef".repeat(119) // 1904 characters

describe("a redacted text", () => {
  it.each<readonly [title: string, text: string, secrets: ReadonlyArray<string>, shown: string]>([
    ["hides a JSON Web Token", "a eyJhbGci.eyJzdWIi.c2ln-X_, b", [], "a …, b"],
    ["hides a JSON Web Token without a signature", "a eyJhbGci.eyJzdWIi. eyJh12.x b", [], "a … … b"],
    [
      "keeps what only resembles a token",
      "keyJhbGci.x a-eyJhbGci.x eyJhb.x eyJhbGci",
      [],
      "keyJhbGci.x a-eyJhbGci.x eyJhb.x eyJhbGci"
    ],
    [
      "writes named characters in the case of their names, and unknown names as they are",
      "&Auml;&ouml;&Ntilde;&AMP; &Unknown; &unknown; %6Eancy",
      ["nancy"],
      "Äö\u00d1& &Unknown; &unknown; …"
    ],
    ["keeps the escapes of a text without secrets", "&Auml; %41", ["nancy"], "&Auml; %41"],
    ["keeps an accent before a secret", "\u0301nancy", ["nancy"], "\u0301…"],
    ["keeps a part of a short secret", "nancy", ["!nancy"], "nancy"],
    ["hides a secret whose half character is replaced", "no nan\uFFFDcy", ["nan\uD800cy"], "no …"]
  ])("%s", (_, text, secrets, shown) => assert.strictEqual(redact(text, secrets), shown))
})

describe("a long text", () => {
  const m = (count: number) => "m".repeat(count)

  it.each<readonly [title: string, text: string, secrets: ReadonlyArray<string>, shown: string]>([
    ["of 500 characters is whole", m(500), [], m(500)],
    ["of 501 characters is cut", m(501), [], `${m(499)}…`],
    ["of 2001 characters is cut", m(2001), [], `${m(499)}…`],
    ["is not cut within a character", `${m(498)}🙂🙂`, [], `${m(498)}…`],
    ["that ends with a whole character is whole", `${m(498)}🙂`, [], `${m(498)}🙂`],
    ["has one ellipsis if a secret is at the cut", `${m(498)}secret more`, ["secret"], `${m(498)}…`],
    ["that is short without its secret is whole", `no ${long} here`, [long], "no … here"],
    [
      "is read to 2000 characters, and says that more came",
      `no ${long} and ${"x".repeat(200)}`,
      [long],
      `no … and ${"x".repeat(88)}…`
    ],
    ["that ends within a secret has one ellipsis", `no ${long}${long} tail`, [`${long}${long}`], "no …"]
  ])("%s", (_, text, secrets, shown) => assert.strictEqual(redact(text, secrets), shown))
})

/** Tests of redaction: no form of a secret is printed, and nothing that a terminal or a log would obey. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Redacted, Schema, Stream } from "effect"
import { Errors, IdentityClient, Operation, TokenProvider, updateTokenExchangeProfile } from "../../src/index.js"
import { redact } from "../../src/internal/http/redact.js"
import * as Pagination from "../../src/Pagination.js"
import * as Testing from "../../src/Testing.js"
import { failed, scripted } from "../support/client.js"

const secret = "José \"O'Neil\" <joe+1@ex.com>/ö🙂"

const html = (text: string, of: (char: string) => string) => [...text].map(of).join("")
const named: Readonly<Record<string, string>> = { "\"": "quot", "'": "apos", "<": "lt", ">": "gt", "&": "amp" }
const latin1: Readonly<Record<string, string>> = { é: "eacute", ö: "ouml" }
const ascii = (text: string) =>
  JSON.stringify(text).slice(1, -1).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const forms: Readonly<Record<string, (text: string) => string>> = {
  "plain": (text) => text,
  "in lower case": (text) => text.toLowerCase(),
  "in upper case": (text) => text.toUpperCase(),
  "in NFD": (text) => text.normalize("NFD"),
  "in NFKC": (text) => text.normalize("NFKC"),
  "without its accents": (text) => text.normalize("NFD").replace(/\p{M}/gu, ""),
  "percent-encoded": encodeURIComponent,
  "percent-encoded in lower case": (text) => encodeURIComponent(text).toLowerCase(),
  "percent-encoded twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "as a form": (text) => new URLSearchParams({ "": text }).toString().slice(1),
  "as JSON": (text) => JSON.stringify(text).slice(1, -1),
  "as JSON of ASCII": ascii,
  "as JSON of ASCII in upper case": (text) => ascii(text).replace(/u.{4}/g, (hex) => `u${hex.slice(1).toUpperCase()}`),
  "as JSON with escaped slashes": (text) => JSON.stringify(text).slice(1, -1).replaceAll("/", "\\/"),
  "as JSON in JSON": (text) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1),
  "as HTML with names": (text) => html(text, (char) => char in named ? `&${named[char]};` : char),
  "as HTML with decimal numbers": (text) => html(text, (char) => `&#${char.codePointAt(0)};`),
  "as HTML with hexadecimal numbers": (text) => html(text, (char) => `&#x00${char.codePointAt(0)?.toString(16)};`),
  "as HTML with capital letters": (text) =>
    html(text, (char) => `&#X${char.codePointAt(0)?.toString(16).toUpperCase()};`),
  "as HTML with numbers without their end": (text) => html(text, (char) => `&#${char.codePointAt(0)}`),
  "as HTML with hexadecimal numbers without their end": (text) =>
    html(text, (char) => `&#x${char.codePointAt(0)?.toString(16)}`),
  "as HTML with all names of Latin-1": (text) =>
    html(text, (char) => char in latin1 ? `&${latin1[char]};` : char in named ? `&${named[char]};` : char),
  "as HTML, percent-encoded": (text) =>
    encodeURIComponent(html(text, (char) => char in named ? `&${named[char]};` : char)),
  "cut at its end": (text) => text.slice(0, 9),
  "cut at its beginning": (text) => text.slice(-12),
  "cut at both ends": (text) => text.slice(8, 20),
  "cut and escaped": (text) => ascii(text).slice(0, 14)
}

describe("a secret is replaced", () => {
  for (const [title, form] of Object.entries(forms)) {
    it(`${title}, wherever it stands`, () => {
      assert.strictEqual(redact(`no ${form(secret)}!`, [secret]), "no …!")
      assert.strictEqual(redact(form(secret), [secret]), "…")
      assert.strictEqual(redact(`${form(secret)}, Ünn ${form(secret)}`, ["other", secret]), "…, Ünn …")
    })
  }

  it("though its letters form an escape with the character before them", () => {
    assert.strictEqual(
      redact("DOMAIN\\nancy, C:\\u00e9tienne, 5%be, &lt;", ["nancy", "u00e9tienne", "be", "lt;"]),
      "DOMAIN\\…, C:\\…, 5%…, &…"
    )
  })

  it("if it contains escapes itself, as it is and escaped", () => {
    assert.strictEqual(redact("no 100%41 \\n &amp; or 100%2541 \\\\n &amp;amp;", ["100%41 \\n &amp;"]), "no … or …")
  })

  it("though it is short; of a long one a part of eight characters, but not of seven", () => {
    assert.strictEqual(
      redact("An Id is no id, it does not exist", ["id", "x", "es", "ist"]),
      "An … is no …, it does not exist"
    )
    assert.strictEqual(redact("exists", ["exis"]), "…ts")
    assert.strictEqual(redact("12345678 1234567 23456789 3456789", ["123456789"]), "… 1234567 … 3456789")
  })

  it("though a letter has several small forms", () => {
    assert.strictEqual(redact("ΟΔΟΣ οδος", ["Οδός"]), "… …")
  })

  it.each([
    ["Zoë Müller-Günther", "Zo%EB%20M%FCller-G%fcnther"],
    ["Zoë Müller-Günther", "Zo&euml; M&uuml;ller-G&uuml;nther"],
    ["ZOË MÜLLER-GÜNTHER", "Zo&Euml; M&Uuml;ller-G&Uuml;nther"],
    ["£5 Ægir × Þór ÿ", "&pound;5&nbsp;&AElig;gir &times; &THORN;&oacute;r &yuml;"],
    ["50 € für Zoë", "50 %80 f%FCr Zo%EB".replace("%80", "%E2%82%AC")],
    ["Straßenbauer", "STRASSENBAUER"],
    ["Straßenbauer", "strassenbauer"],
    ["Strassenbauer", "Straßenbauer"],
    ["Adébáyọ̀", "Adebayo"],
    ["Adebayo", "ADÉBÁYỌ̀"],
    ["Adébáyọ̀", "adébáyọ̀"],
    ["İstanbul", "i̇stanbul"]
  ])("%s as %s", (secret, text) => {
    assert.strictEqual(redact(`no ${text}!`, [secret]), "no …!")
  })

  it("unless it is blank", () => {
    assert.strictEqual(redact("as it is", ["", " ", "\n", "\u0301", "\u200b"]), "as it is")
  })

  it("in texts of any length", () => {
    const long = "0123456789abcdef".repeat(2000)
    assert.strictEqual(redact(`${"&amp;".repeat(100_000)}`, [long]).length, 500)
    assert.strictEqual(redact(`no ${long}`, [long, "x"]), "no …")
    assert.strictEqual(redact(`no ${long.repeat(40)}`, ["x"]).length, 500)
  })

  it("the invalid escapes of a text stay as they are", () => {
    const text = "%ff \\N &amp %c3%28 %E2%82 %zz &#x110000; &#9999999; &unknown; \\ud800 \\u12 %"
    assert.strictEqual(redact(text, ["other"]), text)
  })
})

describe("what a terminal or a log would obey", () => {
  const hostile =
    "a\r\nlevel=INFO b\u001b[2Jc\u0000d\u007fe\u009b1mf\u202eg\u2066h\u2069i\u200fj\u061ck\u2028l\u2029m\tn\u0085o"
  const neutral = "a level=INFO b [2Jc d e 1mf g h i j k l m n o"

  it("is replaced by a space", () => {
    assert.strictEqual(redact(hostile, []), neutral)
    assert.strictEqual(redact("👩‍👩‍👧 می‌خواهم", []), "👩‍👩‍👧 می‌خواهم", "emoji and words need their joiners")
  })

  it.effect("never comes from the service into an error", () =>
    Effect.gen(function*() {
      const headers = {
        "content-type": `text/plain; ${hostile.replace(/[^\t\x20-\x7e\x80-\xff]/g, "")}`,
        "x-request-id": "a\u009bb"
      }
      const replies = [
        Testing.reply({
          status: 500,
          body: { message: hostile, errorCode: hostile },
          headers: { "x-request-id": "a\u009bb" }
        }),
        Testing.reply({ status: 400, body: { error: hostile, code: hostile } }),
        Testing.reply({ status: 502, body: `<title>${hostile}</title>`, headers }),
        Testing.reply({ body: { id: 7, [hostile]: 1 } })
      ]
      for (const reply of replies) {
        const error = yield* failed(updateTokenExchangeProfile, { id: "x", name: "abc" }, reply)
        for (const text of Object.values(error as object).filter((value) => typeof value === "string")) {
          assert.notMatch(text, /[\p{Cc}\u2028\u2029\u202e\u2066\u2069\u200f\u061c]/u)
        }
      }
      assert.deepInclude(yield* failed(updateTokenExchangeProfile, { id: "x", name: "abc" }, replies[0]!), {
        message: `updateTokenExchangeProfile: status 500 from tenant.example.com: ${neutral}`,
        errorCode: neutral,
        requestId: "a b"
      })
    }))

  it.effect("never comes from the token endpoint into an error", () =>
    Effect.gen(function*() {
      const reply = Testing.reply({ status: 400, body: { error: hostile, error_description: hostile } })
      const error = yield* Effect.flip(Effect.flatMap(TokenProvider.TokenProvider, ({ get }) => get)).pipe(
        Effect.provide(
          TokenProvider.layerClientCredentials({
            authUrl: "https://login.example.com",
            clientId: "client",
            clientSecret: Redacted.make("s")
          }).pipe(Layer.provide(Testing.layerHttp(reply)))
        )
      )
      const clean = neutral.replaceAll("s", "…")
      assert.deepInclude(error, { error: clean, description: clean })
    }))

  const key = `jane.doe@example.com\u001b[2J\r\n`
  const list = Operation.make("list", () => ({
    method: "GET",
    path: "/list",
    query: { page: Schema.optional(Schema.Number), who: Schema.optional(Schema.String) },
    success: Schema.Struct({
      items: Schema.Array(Schema.Struct({ map: Schema.Record({ key: Schema.String, value: Schema.Number }) }))
    }),
    items: "items",
    scope: "read:list",
    idempotent: true,
    error: [Errors.RateLimited]
  }))
  const body = { items: [{ map: { [key]: "no number" } }] }

  it.effect("nor a string of the input is in the path of a field that does not match the schema", () =>
    Effect.gen(function*() {
      const error = yield* failed(list, { who: "Jane.Doe@example.com" }, Testing.reply({ body }))
      assert.deepInclude(error, {
        path: "items[0].map.… [2J ",
        message:
          "list: status 200 from tenant.example.com: unexpected response body at items[0].map.… [2J : expected a number"
      })
    }))

  it.effect("is not in the path of an item that does not match the schema", () =>
    Effect.gen(function*() {
      const items = yield* Effect.provide(
        Stream.runCollect(Pagination.streamEither(list, {})),
        scripted(Testing.reply({ body }), Testing.reply({ body: { items: [] } }))
      )
      const paths = [...items].flatMap((item) => Either.isLeft(item) ? [item.left.path] : [])
      assert.deepStrictEqual(paths, ["items[0].map.jane.doe@example.com [2J "])
    }))
})

describe("the headers of a call", () => {
  const call = (message: string, headers: Record<string, string>) =>
    IdentityClient.withHeaders(
      failed(
        updateTokenExchangeProfile,
        { id: "x".repeat(9), name: "abc" },
        Testing.reply({ status: 500, body: { message } })
      ),
      headers
    )

  it.effect("are replaced in messages if they have eight characters", () =>
    Effect.gen(function*() {
      const headers = { "x-api-key": "Key-1234567", "accept-language": "de", cookie: "a=session-id-1; b=2" }
      const message = "no key-1234567 nor SESSION-ID-1 for the code"
      assert.deepInclude(yield* call(message, headers), {
        message: "updateTokenExchangeProfile: status 500 from tenant.example.com: no … nor … for the code"
      })
    }))

  it.effect("are no secrets if they only tell the formats that the caller accepts", () =>
    Effect.gen(function*() {
      const error = yield* IdentityClient.withHeaders(
        failed(updateTokenExchangeProfile, { id: "x", name: "abc" }, Testing.reply({ body: [] })),
        { accept: "application/json" }
      )
      assert.deepInclude(error, { contentType: "application/json" })
    }))
})

describe("a text with many secrets", () => {
  /** Counts the calls of methods of texts, maps and sets, which is the work of hiding secrets. */
  const workOf = (text: string, secrets: ReadonlyArray<string>): number => {
    let count = 0
    const restore = [String.prototype, Map.prototype, Set.prototype].flatMap((prototype) =>
      Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, descriptor]) => {
        const { value } = descriptor
        if (typeof value !== "function" || name === "constructor") return []
        const counting = function(this: unknown, ...args: ReadonlyArray<unknown>): unknown {
          count++
          return Reflect.apply(value, this, args)
        }
        Object.defineProperty(prototype, name, { ...descriptor, value: counting })
        return [() => void Object.defineProperty(prototype, name, descriptor)]
      })
    )
    redact(text, secrets)
    restore.forEach((undo) => undo())
    return count
  }
  const times = (count: number, make: (nth: number) => string) => Array.from({ length: count }, (_, nth) => make(nth))
  const ids = (count: number) => times(count, (nth) => `evt_${String(nth).padStart(20, "x")}`)

  it.each<readonly [title: string, text: string, secrets: (length: number) => ReadonlyArray<string>]>([
    ["that are ids", ids(80).join(" "), (length) => ids(length / 24)],
    ["that all begin as the text does", "a".repeat(2000), (length) => times(length / 13, (nth) => `aaaaaaaa${nth}`)],
    ["of which each repeats a part", "1P1P1P1P".repeat(250), (length) => ["21".repeat(length / 2)]],
    [
      "of one part, which is the text's",
      "auth0|65".repeat(250),
      (length) => times(length / 30, (nth) => `auth0|65${String(nth).padStart(22, "0")}`)
    ],
    [
      "that are beginnings of each other",
      "a".repeat(2000),
      (length) => times(Math.sqrt(2 * length), (nth) => "a".repeat(nth))
    ],
    ["that repeat themselves", "a".repeat(1900), (length) => ["a".repeat(length)]],
    ["that are never found", "ab".repeat(1000), (length) => [`${"ab".repeat(7)}c`.repeat(length / 15)]],
    ["that become longer when they are folded", "\ufdfa".repeat(2000), (length) => ["\ufdfa".repeat(length / 18)]]
  ])("%s takes a few steps for each character", (_, text, secrets) => {
    const [few, many] = [secrets(3000), secrets(32_000)]
    assert.isBelow(workOf(text, many), 8 * 32_000 + 30 * 4000)
    assert.isBelow(workOf(text, many), workOf(text, few) + 8 * 29_000)
  })

  it("takes a few steps for each character of the text, even of one that becomes longer when it is folded", () => {
    assert.isBelow(workOf("\ufdfa".repeat(2000), ids(80)), 30 * 4000)
  })

  it("is hidden as a whole if they are too many to look for", () => {
    assert.strictEqual(redact("There is no such event", ids(1300)), "There is no such event")
    assert.strictEqual(redact("There is no such event", ids(1400)), "…")
    assert.strictEqual(redact("There is no such event", ["\ufdfa".repeat(1800)]), "There is no such event")
    assert.strictEqual(redact("There is no such event", ["\ufdfa".repeat(1900)]), "…", "after folding")
  })
})

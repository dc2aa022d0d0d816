/** Tests of the requests that the page at `/docs` makes. `test/docs` opens it in a browser. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import * as Tenant from "../../../src/Tenant.js"
import { type Document, type Operation, operationsOf } from "../../../src/tenant/page/docs/document.js"
import { prepare, type Values } from "../../../src/tenant/page/docs/request.js"
import { sample } from "../../../src/tenant/page/docs/sample.js"
import { curl } from "../../../src/tenant/page/ui/curl.js"
import { fragmentOf, keyIn } from "../../../src/tenant/page/ui/key.js"

const document = Tenant.openapi as unknown as Document // sound: the page reads the same document
const operations = operationsOf(document)

const named = (name: string): Operation => {
  const found = operations.find(({ id }) => id === name)
  if (found === undefined) throw new Error(name)
  return found
}

const values = (more: Partial<Values>): Values => ({
  parameters: {},
  contentType: undefined,
  body: "",
  files: {},
  ...more
})

describe("the page at /docs", () => {
  it("reads every operation, with its scopes and responses", () => {
    assert.sameMembers(
      operations.map(({ method, path }) => `${method} ${path}`),
      Tenant.routes.map(({ method, path }) => `${method} ${path.replace(/:([^/]+)/g, "{$1}")}`)
    )
    const { needsToken, responses, scopes } = named("getAction")
    assert.deepStrictEqual([needsToken, scopes], [true, ["read:actions"]])
    assert.isTrue(responses.every(([, { description }]) => description !== undefined))
    assert.isFalse(named("token").needsToken)
  })

  it("puts parameters where they belong, and leaves empty ones out", () => {
    const request = prepare(
      named("listDeliveries"),
      values({ parameters: { "path id": "a/b", "query take": "5", "query from": "" } }),
      "secret"
    )
    assert.deepStrictEqual(request, {
      method: "GET",
      url: "/api/v2/event-streams/a%2Fb/deliveries?take=5",
      headers: [["authorization", "Bearer secret"]],
      body: undefined
    })
  })

  it("sends no token where none is needed", () => {
    assert.deepStrictEqual(prepare(named("token"), values({}), "secret").headers, [])
  })

  it("writes nested fields of a form in brackets, and refuses to send a form that is not JSON", () => {
    const contentType = "application/x-www-form-urlencoded"
    const operation = named("createUsersExport")
    const { body, headers } = prepare(
      operation,
      values({ contentType, body: "{\"fields\":[{\"name\":\"a b\"}],\"limit\":5}" }),
      undefined
    )
    assert.strictEqual(body, "fields%5B0%5D%5Bname%5D=a+b&limit=5")
    assert.deepStrictEqual(headers, [["content-type", contentType]])
    assert.throws(() => prepare(operation, values({ contentType, body: "{" }), undefined), /not JSON/)
  })

  it("begins with a value that fits the schema", () => {
    const schema = document.components?.["schemas"]?.["TokenRequest"]
    assert.deepInclude(sample(document, schema as object), { grant_type: "client_credentials" }) // sound: it is a schema
  })
})

/** The arguments that a shell gives to curl. */
const argumentsOf = (command: string): ReadonlyArray<string> =>
  execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], {
    encoding: "utf8",
    env: { ...process.env, TOKEN: "mine" }
  }).split("\0").slice(0, -1)

describe("a command for curl", () => {
  const url = "http://tenant/"

  it("quotes for the shell, and never has a token", () => {
    const command = curl({
      method: "POST",
      url: "http://tenant/it's",
      headers: [["Authorization", "Bearer secret"], ["x-mine", "$HOME"], ["content-type", "application/json"]],
      body: "{}"
    })
    assert.deepStrictEqual(command.split(" \\\n  "), [
      "curl -X POST 'http://tenant/it'\\''s'",
      "-H \"authorization: Bearer $TOKEN\"",
      "-H 'x-mine: $HOME'",
      "-H 'content-type: application/json'",
      "--data-raw '{}'"
    ])
  })

  it.skipIf(process.platform === "win32")("means the same to a shell, whatever the texts are", () => {
    const nasty = "it's \"q\" `id` $(id) $HOME \\ ! # & | ; * ~ \n@x\r\n--next"
    const command = curl({
      method: "A'`id`$B|C",
      url: `${url}?a[]={1}&b='$(id)'`,
      headers: [["x'`$y", nasty], ["authorization", "bearer secret"], ["content-type", ""]],
      body: nasty
    })
    assert.deepStrictEqual(argumentsOf(command), [
      "--globoff",
      "-X",
      "A'`id`$B|C",
      `${url}?a[]={1}&b='$(id)'`,
      "-H",
      `x'\`$y: ${nasty}`,
      "-H",
      "authorization: Bearer mine",
      "-H",
      "content-type;",
      "--data-raw",
      nasty
    ])
    const form = curl({
      method: "POST",
      url,
      headers: [],
      body: [["text", "@/etc/passwd;type=x"], ["file", { file: "a \"b\";c\\d'.png" }]]
    })
    assert.deepStrictEqual(argumentsOf(form).slice(3), [
      "--form-string",
      "text=@/etc/passwd;type=x",
      "-F",
      "file=@\"a \\\"b\\\";c\\\\d'.png\""
    ])
  })

  it("keeps other schemes than Bearer, asks for headers only, and adds no type to a body", () => {
    const headers = [["authorization", "Basic <masked>"]] as const
    assert.strictEqual(curl({ method: "GET", url, headers }), `curl '${url}' \\\n  -H 'authorization: Basic <masked>'`)
    assert.strictEqual(curl({ method: "HEAD", url, headers: [], body: "x" }), `curl -I '${url}'`)
    assert.strictEqual(
      curl({ method: "GET", url, headers: [], body: "x" }),
      `curl -X GET '${url}' \\\n  -H 'content-type:' \\\n  --data-raw 'x'`
    )
    assert.strictEqual(curl({ method: "POST", url, headers: [], body: "" }), `curl -X POST '${url}'`)
  })

  it("says in one line before the command what it lacks", () => {
    assert.strictEqual(curl({ method: "GET", url, headers: [], remark: "No\nbody." }), `# No body.\ncurl '${url}'`)
  })
})

describe("the key", () => {
  it("travels in the fragment", () => {
    for (const key of ["abc", "a+b/c=d&e f"]) assert.strictEqual(keyIn(`http://tenant/${fragmentOf(key)}`), key)
    assert.deepStrictEqual([keyIn(""), keyIn("#other"), fragmentOf("")], ["", "", ""])
  })
})

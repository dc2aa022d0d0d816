/** Tests of what the live page copies and of its key. `test/docs` opens it in a browser. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { curl } from "../../../src/tenant/page/ui/curl.js"
import { keyIn } from "../../../src/tenant/page/ui/key.js"

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
    for (const key of ["abc", "a+b/c=d&e f"]) {
      assert.strictEqual(keyIn(`http://tenant/#key=${encodeURIComponent(key)}`), key)
    }
    assert.deepStrictEqual([keyIn(""), keyIn("#other")], ["", ""])
  })
})

/** Tests of how complete a body is by the platform's error, and of the bytes that its chunks make. */
import { HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { completenessOf, completenessOfResponse } from "../../src/internal/http/platformErrors.js"
import { concat } from "../../src/internal/http/responseBody.js"
import { responseError } from "../support/httpErrors.js"

describe("a body that the platform could not read", () => {
  const request = HttpClientRequest.get("https://tenant.example.com/api/v2/things")

  it.each<readonly [string, ReturnType<typeof completenessOf>, unknown]>([
    ["by a code of zlib", "corrupt", { code: "Z_DATA_ERROR" }],
    ["by a message", "corrupt", { cause: { message: "Decompression failed" } }],
    ["by the limit of undici", "truncated", { code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" }],
    ["by any other code", "interrupted", { code: "ECONNRESET" }],
    ["without a code", "interrupted", undefined]
  ])("%s is %s", (_, completeness, cause) => {
    assert.strictEqual(completenessOf(cause), completeness)
    assert.strictEqual(completenessOfResponse(responseError(request, "Decode", { cause })), completeness)
  })

  it("is complete if there was none", () => {
    const cause = { code: "ECONNRESET" }
    assert.strictEqual(completenessOfResponse(responseError(request, "EmptyBody", { cause })), "complete")
  })
})

describe("chunks", () => {
  it("that are only one are not copied", () => {
    const chunk = Uint8Array.from([1, 2, 3])
    const target = new Uint8Array(5)
    assert.strictEqual(concat([chunk], 3, target), chunk)
    assert.deepStrictEqual([...target], [0, 0, 0, 0, 0])
  })

  it("are joined in the given target", () => {
    const target = new Uint8Array(5)
    const joined = concat([Uint8Array.from([1, 2]), Uint8Array.from([3, 4])], 3, target)
    assert.deepStrictEqual([...joined], [1, 2, 3])
    assert.strictEqual(joined.buffer, target.buffer)
  })
})

import { assert, describe, it } from "vitest"
import { memoizeByEndpoint } from "../../src/internal/runtime/memoize.js"
import { deleteEventStream, listActionVersions } from "../../src/operations/index.js"

describe("memoizeByEndpoint", () => {
  it("calls the function once for each endpoint", () => {
    const made: Array<string> = []
    const nameOf = memoizeByEndpoint(({ name }) => {
      made.push(name)
      return { name }
    })
    const endpoints = [listActionVersions.endpoint, deleteEventStream.endpoint, listActionVersions.endpoint]
    const results = endpoints.map(nameOf)
    assert.deepStrictEqual(results.map(({ name }) => name), endpoints.map(({ name }) => name))
    assert.strictEqual(results[2], results[0])
    assert.deepStrictEqual(made, ["listActionVersions", "deleteEventStream"])
  })
})

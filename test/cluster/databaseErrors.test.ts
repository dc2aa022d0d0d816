/** Tests of the errors of statements: which code and message they have, and whether the statement may have run. */
import { assert, describe, it } from "@effect/vitest"
import { toDatabaseError } from "../../src/cluster/database.js"

interface Failure {
  readonly cause?: unknown
  readonly message?: string
}

/** The error for a failure of the client, which has what both lines of Effect read of it. */
const errorOf = ({ cause = new Error("a secret"), message = "Failed to execute statement" }: Failure) => {
  const operation = message.includes("acquire") ? "connect" : "execute"
  return toDatabaseError({ cause, message, reason: { cause, operation } } as never) // sound: nothing else is read
}

const withCode = (code: unknown) => Object.assign(new Error("a secret"), { code })

const acquire = "Failed to acquire connection"

describe("the error of a statement", () => {
  it.each<readonly [string, Failure, string | undefined, boolean]>([
    ["has the code of PostgreSQL, which did not run it", { cause: withCode("22P02") }, "22P02", false],
    ["has the code of the system, which may have run it", { cause: withCode("ECONNRESET") }, "ECONNRESET", true],
    ["has a long code of the system", { cause: withCode("E_".repeat(15)) }, "E_".repeat(15), true],
    ["says nothing of a connection that was lost without a code", {}, undefined, true],
    ["says that it was not sent without a connection", { message: acquire }, undefined, false],
    ["says so for a transaction, too", { message: `${acquire} for transaction` }, undefined, false],
    [
      "has the code of the connection that was not made",
      { cause: withCode("ECONNREFUSED"), message: acquire },
      "ECONNREFUSED",
      false
    ],
    ["has no code that ends with a text", { cause: withCode("22P02 a secret") }, undefined, true],
    ["has no code that begins with a text", { cause: withCode("a secret 22P02") }, undefined, true],
    ["has no code that is too short", { cause: withCode("EIO") }, undefined, true],
    ["has no code that is too long", { cause: withCode("E".repeat(31)) }, undefined, true],
    ["has no code in lower case", { cause: withCode("eio_a") }, undefined, true],
    ["has no code that is a number", { cause: withCode(12_345) }, undefined, true],
    ["has no code if nothing was thrown", { cause: null }, undefined, true],
    ["has no code of a text", { cause: "22P02" }, undefined, true]
  ])("%s", (_, failure, code, mayHaveRun) => {
    const error = errorOf(failure)
    const message = code === undefined ? "the database cannot be used" : `the database cannot be used (${code})`
    assert.deepInclude(error, { _tag: "DatabaseError", message, code, mayHaveRun })
    assert.notInclude(String(error), "secret")
  })
})

/** The tenant answers as real tenants were recorded: the same statuses and fields, of the same types. */
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { differences } from "../../recordings/shapes.js"
import { type Answer, answersOfTenant } from "../support/answers.js"
import { endpoints, itInProcess } from "../support/calls.js"
import { recordedAnswers, recordedFailures } from "../support/recordedAnswers.js"

const isSuccess = ({ status }: Answer) => status < 300

describe("the answers of the demo tenant", () => {
  itInProcess("are as recorded, for each operation", () =>
    Effect.gen(function*() {
      const answers = yield* answersOfTenant
      const names = endpoints.map(({ name }) => name)
      assert.sameMembers([...answers.keys()], names)
      assert.sameMembers(Object.keys(recordedAnswers), names)
      const found = [...answers].map(([name, given]) => {
        const { bodies = [], opaque, status } = recordedAnswers[name] ?? {}
        const successes = given.filter(isSuccess)
        const others = successes.filter((answer) => answer.status !== status).map((answer) => `has ${answer.status}`)
        const sent = successes.flatMap(({ body }) => body ?? [])
        return [name, [...others, ...differences(sent, bodies, opaque)]] as const
      })
      assert.deepStrictEqual(
        Object.fromEntries(found.filter(([, differences]) => differences.length > 0)),
        {}
      )
    }))

  itInProcess("are failures as recorded, for what does not exist", () =>
    Effect.gen(function*() {
      const answers = yield* answersOfTenant
      for (const [name, body] of Object.entries(recordedFailures)) {
        assert.deepStrictEqual(answers.get(name)?.filter((answer) => !isSuccess(answer)), [{ status: 404, body }], name)
      }
    }))
})

/** A few seeds of `npm run test:simulation`, the plans of what it has found, and the simulator itself. */
import { assert, describe, it } from "vitest"
import { drawPlan, keyOfToken, type Plan, simulationKinds } from "./plan.js"
import { unplantable } from "./planted.js"
import { regressions } from "./regressions.js"
import { shrink } from "./shrink.js"
import { simulate } from "./simulate.js"

const violationOf = async (plan: Plan) => (await simulate(plan)).violation

describe("the invariants hold", () => {
  for (const kind of simulationKinds) {
    for (let seed = 0; seed < 4; seed++) {
      it(`with seed ${seed}, ${kind}`, async () => {
        assert.isUndefined(await violationOf(drawPlan(seed, kind)))
      })
    }
  }

  for (const [title, plan] of Object.entries(regressions)) {
    it(title, async () => {
      assert.isUndefined(await violationOf(plan))
    })
  }
})

describe("a simulation", () => {
  for (const kind of simulationKinds) {
    it(`replays to the letter, ${kind}`, async () => {
      const plan = drawPlan(10, kind)
      const { trace } = await simulate(plan)
      await simulate(drawPlan(1, "fleet"))
      assert.isAbove(trace.length, 10)
      assert.deepStrictEqual((await simulate(plan)).trace, trace)
    })
  }

  it("that cannot go on is a violation, too: its seed is printed", async () => {
    const impossible = {
      key: keyOfToken(0),
      nth: 0,
      kind: "status",
      status: 99,
      carriedOut: false,
      body: "json"
    } as const
    assert.strictEqual((await violationOf({ ...drawPlan(10, "alone"), faults: [impossible] }))?.invariant, "machine")
  })

  it("is tried with faults that fit the sources as they are", () => {
    assert.deepStrictEqual(unplantable(), [])
  })

  it("takes another way with another seed", async () => {
    const [one, other] = [await simulate(drawPlan(10, "alone")), await simulate({ ...drawPlan(10, "alone"), seed: 11 })]
    assert.notDeepEqual(one.trace, other.trace)
  })
})

describe("a plan that fails", () => {
  it("is made as small as it can be", async () => {
    const plan = drawPlan(1, "fleet")
    const violation = { invariant: "once", message: "" }
    const smallest = await shrink(plan, violation, async ({ processes }) => {
      const calls = processes.flatMap(({ calls }) => calls)
      return calls.some(({ kind }) => kind === plan.processes[0]?.calls[0]?.kind) ? violation : undefined
    })
    assert.deepStrictEqual(smallest.processes.map(({ calls }) => calls.length), [1])
    assert.deepStrictEqual([smallest.faults, smallest.permute, smallest.preempt, smallest.latency.disk], [
      [],
      false,
      0,
      [
        0,
        0
      ]
    ])
  })
})

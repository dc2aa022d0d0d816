/** The test kit: every test of Effect has a scope, and a test's services are the `TestClock`. */
import { rules } from "../convert/rules.js"

const testers = { scoped: "effect", scopedLive: "live" }

export default rules({
  members: { "@effect/vitest#Methods": testers, "@effect/vitest#MethodsNonLive": testers },
  types: {
    "@effect/vitest": {
      // Its second argument told whether tests have the services of tests.
      "Vitest.MethodsNonLive": ({ typeArguments: [requirements] = [], typeName }, c) =>
        requirements && `${c.text(typeName)}<${c.text(requirements)}>`
    }
  },
  nodes: {
    PropertyAccessExpression: (node, c) =>
      c.isName(node, "effect/TestContext", "TestContext")
        ? `${c.name("effect/testing/TestClock", "layer")}()`
        : undefined
  }
})

/** The test kit: every test of Effect has a scope. */
import { rules } from "../convert/rules.js"

const testers: Readonly<Record<string, string>> = { scoped: "effect", scopedLive: "live" }

export default rules({
  nodes: {
    PropertyAccessExpression: (node, c) => {
      const name = c.nameOf(node)
      const tester = name?.module === "@effect/vitest" && name.name === `it.${node.name.text}` ? testers[node.name.text] : undefined
      return tester && `${c.text(node.expression)}.${tester}`
    }
  }
})

/** The test kit: every test of Effect has a scope. */
import { rules } from "../convert/rules.js"

const testers = new Map([["scoped", "effect"], ["scopedLive", "live"]])

export default rules({
  nodes: {
    PropertyAccessExpression: (node, c) => {
      const name = c.nameOf(node)
      const tester = name?.module === "@effect/vitest" && name.name === `it.${node.name.text}` ? testers.get(node.name.text) : undefined
      return tester && `${c.text(node.expression)}.${tester}`
    }
  }
})

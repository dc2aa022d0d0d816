/** Functions that are passed on, and would take more arguments in Effect 4 than in Effect 3. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

/** Functions with options behind the effect: an index must not become them. */
const forks = new Map([
  ["fork", "forkChild"],
  ["forkDaemon", "forkDetach"],
  ["forkScoped", "forkScoped"],
  ["ignore", "ignore"]
])

const isLoop = (node: ts.Expression, c: File): boolean =>
  c.isName(node, "effect/Effect", "forEach") || ts.isPropertyAccessExpression(node) && node.name.text === "map" &&
    c.nameOf(node) === undefined

export default rules({
  nodes: {
    PropertyAccessExpression: (node, c) => {
      const { parent } = node
      if (!ts.isCallExpression(parent) || parent.expression === node || !isLoop(parent.expression, c)) return undefined
      const name = c.nameOf(node)
      const to = name?.module === "effect/Effect" ? forks.get(name.name) : undefined
      return to && `(each) => ${c.name("effect/Effect", to)}(each)`
    }
  }
})

/** A fiber that is forked in a region without interruptions has such a region in Effect 3; in Effect 4 it must be asked for. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

const options = "{ uninterruptible: \"inherit\" }"

const names = new Map([
  ["fork", "forkChild"],
  ["forkDaemon", "forkDetach"],
  ["forkIn", "forkIn"],
  ["forkScoped", "forkScoped"]
])

/** Whether a node stands in `uninterruptible(…)` or in `uninterruptibleMask((restore) => …)`, but not in `restore(…)`. */
const isUninterruptible = (node: ts.Node, c: File): boolean => {
  let isRestored = false
  for (let at = node; !ts.isSourceFile(at); at = at.parent) {
    const { parent } = at
    if (!ts.isCallExpression(parent) || parent.expression === at) continue
    if (ts.isIdentifier(parent.expression) && parent.expression.text === "restore") isRestored = true
    if (c.isName(parent.expression, "effect/Effect", "interruptible")) return false
    if (c.isName(parent.expression, "effect/Effect", "uninterruptible")) return !isRestored
    if (c.isName(parent.expression, "effect/Effect", "uninterruptibleMask")) return !isRestored
  }
  return false
}

const forked = (name: string) => ({ args, node }: Call, c: File): string | undefined =>
  isUninterruptible(node, c)
    ? `${c.name("effect/Effect", names.get(name) ?? name)}(${c.texts(args)}, ${options})`
    : undefined

export default rules({
  calls: { "effect/Effect": Object.fromEntries([...names.keys()].map((name) => [name, forked(name)])) },
  nodes: {
    // `effect.pipe(Effect.fork)`
    PropertyAccessExpression: (node, c) => {
      const name = c.nameOf(node)
      const to = name?.module === "effect/Effect" && name.name !== "forkIn" ? names.get(name.name) : undefined
      const { parent } = node
      if (to === undefined || !ts.isCallExpression(parent) || parent.expression === node) return undefined
      const isPiped = ts.isPropertyAccessExpression(parent.expression) && parent.expression.name.text === "pipe"
      return isPiped && isUninterruptible(node, c) ? `${c.name("effect/Effect", to)}(${options})` : undefined
    }
  }
})

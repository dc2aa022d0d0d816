/** What was an effect in Effect 3, and is a value now: references, deferred values, fibers, options and results. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

/** The functions that make an effect of a value, by the type of the value. */
const effects: ReadonlyArray<readonly [types: ReadonlyArray<string>, module: string, name: string]> = [
  [["effect/SubscriptionRef#SubscriptionRef"], "effect/SubscriptionRef", "get"],
  [["effect/SynchronizedRef#SynchronizedRef"], "effect/SynchronizedRef", "get"],
  [["effect/Ref#Ref"], "effect/Ref", "get"],
  [["effect/Deferred#Deferred"], "effect/Deferred", "await"],
  [["effect/Fiber#RuntimeFiber", "effect/Fiber#Fiber"], "effect/Fiber", "join"],
  [["effect/Either#Either", "effect/Either#Left", "effect/Either#Right"], "effect/Effect", "fromResult"],
  [["effect/Option#Option", "effect/Option#Some", "effect/Option#None"], "effect/Effect", "fromOption"]
]

/** Whether an effect is expected where a node stands. */
const isExpected = (node: ts.Expression, c: File): boolean => {
  const { parent } = node
  if (ts.isYieldExpression(parent)) return parent.asteriskToken !== undefined
  if (!ts.isCallExpression(parent) || parent.expression === node) return false
  const type = c.checker.getContextualType(node)
  return type !== undefined && c.isTypeFrom(type, ["effect/Effect#Effect"])
}

/** The nodes that are being converted: each is asked about a second time, for its own text. */
const begun = new Set<ts.Node>()

const toEffect = (node: ts.Expression, c: File): string | undefined => {
  if (begun.has(node) || !isExpected(node, c)) return undefined
  const found = effects.find(([types]) => c.isType(node, ...types))
  if (found === undefined) return undefined
  const [, module, name] = found
  begun.add(node)
  const text = c.text(node)
  begun.delete(node)
  return `${c.name(module, name)}(${text})`
}

/** An effect of an option, or of another such value, is flattened by what makes an effect of the value. */
const flatten = ({ args: [self] }: Call, c: File): string | undefined => {
  const type = self && c.typeOf(self)
  const [value] = type === undefined ? [] : c.checker.getTypeArguments(type as ts.TypeReference) // sound: none of another type
  const found = value && effects.find(([types]) => c.isTypeFrom(value, types))
  if (self === undefined || found === undefined) return undefined
  const [, module, name] = found
  return `${c.name("effect/Effect", "flatMap")}(${c.text(self)}, ${c.name(module, name)})`
}

export default rules({
  calls: { "effect/Effect": { flatten } },
  nodes: { CallExpression: toEffect, Identifier: toEffect, PropertyAccessExpression: toEffect }
})

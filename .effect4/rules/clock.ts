/** Clocks: unsafe members end in `Unsafe`, a clock has no type id, and it counts monotonic time beside the time of day. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

const renamed = new Map([
  ["unsafeCurrentTimeMillis", "currentTimeMillisUnsafe"],
  ["unsafeCurrentTimeNanos", "currentTimeNanosUnsafe"]
])

/** The nanoseconds of a clock of Effect 3 are monotonic: what implements them implements both in Effect 4. */
const monotonic = new Map([
  ["currentTimeNanos", "monotonicTimeNanos"],
  ["unsafeCurrentTimeNanos", "monotonicTimeNanosUnsafe"]
])

const isTypeId = (name: ts.PropertyName | undefined, c: File): boolean =>
  name !== undefined && ts.isComputedPropertyName(name) && c.isName(name.expression, "effect/Clock", "ClockTypeId")

/** A member of a clock that is written out, and the same once more for monotonic time. */
const twice = (node: ts.NamedDeclaration, separator: string, c: File): string | undefined => {
  const other = node.name && ts.isIdentifier(node.name) ? monotonic.get(node.name.text) : undefined
  if (node.name === undefined || other === undefined) return undefined
  const start = node.getText().slice(0, node.name.getStart() - node.getStart())
  const rest = c.children(node).slice(start.length + c.text(node.name).length)
  const monotonicRest = rest.replaceAll("currentTimeNanos", "monotonicTimeNanos")
  return `${start}${c.text(node.name)}${rest}${separator}${start}${other}${monotonicRest}`
}

const isClock = (node: ts.Node, c: File): boolean =>
  ts.isObjectLiteralExpression(node) &&
  node.properties.some(({ name }) => name?.getText() === "unsafeCurrentTimeNanos" || isTypeId(name, c))

export default rules({
  names: { "effect/Clock": { currentTimeNanos: "monotonicTimeNanos" } },
  calls: {
    "effect/Clock": { make: (_, c) => `${c.name("effect/Clock", "Clock")}.defaultValue()` }
  },
  nodes: {
    Identifier: (node) => renamed.get(node.text),
    MethodDeclaration: (node, c) => twice(node, "\n\n", c),
    ObjectLiteralExpression: (node, c) => {
      if (!node.properties.some(({ name }) => isTypeId(name, c))) return undefined
      return `{\n${
        node.properties.filter(({ name }) => !isTypeId(name, c)).map((property) => c.text(property)).join(",\n")
      }\n}`
    },
    PropertyAssignment: (node, c) => isClock(node.parent, c) ? twice(node, ",\n", c) : undefined,
    PropertyDeclaration: (node, c) => isTypeId(node.name, c) ? "" : twice(node, "\n", c)
  }
})

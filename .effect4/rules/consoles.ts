/** Consoles write at once: their functions give no effects. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

/** Whether an object literal changes some functions of a console. */
const isConsole = (object: ts.ObjectLiteralExpression, c: File): boolean =>
  object.properties.some((property) =>
    ts.isSpreadAssignment(property) && c.isType(property.expression, "effect/Console#Console")
  )

/** Whether a function is the program's own, and not that of a console. */
const givesEffect = (node: ts.Expression, c: File): boolean => {
  const [signature] = c.typeOf(node).getCallSignatures()
  return signature?.declaration !== undefined &&
    !/\/effect\/(?:dist\/dts|src)\/Console\b/.test(signature.declaration.getSourceFile().fileName) &&
    c.isTypeFrom(signature.getReturnType(), ["effect/Effect#Effect"])
}

const sync = (node: ts.Expression, c: File): string =>
  ts.isArrowFunction(node) && c.isName(node.body, "effect/Effect", "void")
    ? "() => {}"
    : `(...texts) => ${c.name("effect/Effect", "runSync")}(${c.text(node)}(...texts))`

export default rules({
  nodes: {
    ObjectLiteralExpression: (node, c) => {
      if (!isConsole(node, c)) return undefined
      const properties = node.properties.map((property) => {
        const value = ts.isPropertyAssignment(property)
          ? property.initializer
          : ts.isShorthandPropertyAssignment(property)
          ? property.name
          : undefined
        return value !== undefined && property.name !== undefined && givesEffect(value, c)
          ? `${property.name.getText()}: ${sync(value, c)}`
          : c.text(property)
      })
      return `{ ${properties.join(", ")} }`
    }
  }
})

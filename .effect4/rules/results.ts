/** `Either` is `Result`: its sides are a failure and a success. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

const sides = new Map([["onLeft", "onFailure"], ["onRight", "onSuccess"]])

/** Functions that take a handler for each side. */
const withHandlers = (name: string) => ({ args }: Call, c: File): string => {
  const texts = args.map((arg) => {
    if (!ts.isObjectLiteralExpression(arg)) return c.text(arg)
    const properties = arg.properties.map((property) => {
      const side = property.name && sides.get(property.name.getText())
      return side !== undefined && ts.isPropertyAssignment(property)
        ? `${side}: ${c.text(property.initializer)}`
        : c.text(property)
    })
    return arg.getText().includes("\n") ? `{\n${properties.join(",\n")}\n}` : `{ ${properties.join(", ")} }`
  })
  return `${c.name("effect/Result", name)}(${texts.join(", ")})`
}

export default rules({
  calls: {
    "effect/Either": { mapBoth: withHandlers("mapBoth"), match: withHandlers("match") }
  },
  members: {
    "effect/Either#Left": { left: "failure" },
    "effect/Either#Right": { right: "success" }
  }
})

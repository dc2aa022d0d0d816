/** Functions of `Duration` that take no more than durations. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

/** A duration, where any input of one was enough. */
const duration = (node: ts.Expression, c: File): string =>
  c.isType(node, "effect/Duration#Duration")
    ? c.text(node)
    : `${c.name("effect/Duration", "fromInputUnsafe")}(${c.text(node)})`

const withDurations = (name: string) => ({ args }: Call, c: File): string =>
  `${c.name("effect/Duration", name)}(${args.map((arg) => duration(arg, c)).join(", ")})`

export default rules({
  calls: {
    "effect/Duration": {
      equals: withDurations("equals"),
      greaterThan: withDurations("isGreaterThan"),
      greaterThanOrEqualTo: withDurations("isGreaterThanOrEqualTo"),
      lessThan: withDurations("isLessThan"),
      lessThanOrEqualTo: withDurations("isLessThanOrEqualTo"),
      max: withDurations("max"),
      min: withDurations("min"),
      sum: withDurations("sum"),
      format: ({ args: [self] }, c) => self && `${c.name("effect/Duration", "format")}(${duration(self, c)})`,
      between: ({ args: [self, limits] }, c) => {
        if (self === undefined || limits === undefined || !ts.isObjectLiteralExpression(limits)) return undefined
        const properties = limits.properties.map((property) =>
          ts.isPropertyAssignment(property)
            ? `${property.name.getText()}: ${duration(property.initializer, c)}`
            : ts.isShorthandPropertyAssignment(property)
            ? `${property.name.text}: ${duration(property.name, c)}`
            : c.text(property)
        )
        return `${c.name("effect/Duration", "between")}(${duration(self, c)}, { ${properties.join(", ")} })`
      }
    }
  }
})

/** `Either` is `Result`: its sides are a failure and a success. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

const sides = new Map([["onLeft", "onFailure"], ["onRight", "onSuccess"]])

const tags = new Map([["Left", "Failure"], ["Right", "Success"]])

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

/** Functions whose function gives an effect. */
const giveEffects = new Set([
  "andThen",
  "catchAll",
  "catchIf",
  "catchTag",
  "flatMap",
  "mapEffect",
  "orElse",
  "suspend",
  "tap",
  "unwrap"
])

const isEither = (node: ts.Expression, c: File): boolean => c.isType(node, "effect/Either#Left", "effect/Either#Right")

/** An `Either` is no effect: `Effect.fromResult` makes it one. */
const fromResult = (node: ts.Expression, c: File): string => `${c.name("effect/Effect", "fromResult")}(${c.text(node)})`

const calledWith = (node: ts.Node, c: File): { readonly name: string; readonly module: string } | undefined => {
  const name = ts.isCallExpression(node.parent) && node.parent.expression !== node
    ? c.nameOf(node.parent.expression)
    : undefined
  return name?.module === "effect/Effect" || name?.module === "effect/Stream" ? name : undefined
}

export default rules({
  calls: {
    "effect/Either": { mapBoth: withHandlers("mapBoth"), match: withHandlers("match") }
  },
  nodes: {
    ArrowFunction: (node, c) => {
      const name = calledWith(node, c)
      if (name === undefined || ts.isBlock(node.body) || !giveEffects.has(name.name) || !isEither(node.body, c)) return
      return `(${node.parameters.map((parameter) => c.text(parameter)).join(", ")}) => ${fromResult(node.body, c)}`
    },
    // `either._tag === "Right"`
    BinaryExpression: ({ left, operatorToken, right }, c) => {
      if (!ts.isPropertyAccessExpression(left) || left.name.text !== "_tag" || !ts.isStringLiteral(right)) {
        return undefined
      }
      const tag = tags.get(right.text)
      return tag === undefined || !c.isType(left.expression, "effect/Either#Left", "effect/Either#Right")
        ? undefined
        : `${c.text(left)} ${operatorToken.getText()} "${tag}"`
    }
  },
  members: {
    "effect/Either#Left": { left: "failure" },
    "effect/Either#Right": { right: "success" }
  }
})

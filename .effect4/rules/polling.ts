/** What a fiber has given so far (`null` in Effect 3, `undefined` in Effect 4), its id, and values that are local to it. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

const runtimeFiber = "effect/Fiber#RuntimeFiber"

/** `fiber.unsafePoll()`, if a node is that. */
const polled = (node: ts.Node | undefined, c: File): string | undefined =>
  node !== undefined && ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === "unsafePoll" && c.isType(node.expression.expression, runtimeFiber)
    ? `${c.text(node.expression.expression)}.pollUnsafe()`
    : undefined

const assertions = new Map([["isNull", "isUndefined"], ["isNotNull", "isDefined"]])

const sync = (c: File, value: string): string => `${c.name("effect/Effect", "sync")}(() => ${value})`

/** A reference is named as the variable that holds it. */
const reference = (node: ts.Node, value: ts.Expression, typeArgs: ReadonlyArray<ts.TypeNode>, c: File): string => {
  const { parent } = node
  const name = ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name) ? parent.name.text : "local"
  const types = typeArgs.length === 0 ? "" : `<${c.texts(typeArgs)}>`
  return `${c.name("effect/Context", "Reference")}${types}(${JSON.stringify(name)}, { defaultValue: () => ${
    c.text(value)
  } })`
}

export default rules({
  calls: {
    "effect/FiberRef": {
      get: ({ args: [ref] }, c) => {
        if (ref === undefined) return undefined
        return c.isName(ref, "effect/FiberRef", "currentContext")
          ? `${c.name("effect/Effect", "context")}<never>()`
          : c.text(ref)
      },
      make: ({ args: [value], node, typeArgs }, c) =>
        value &&
        `${c.name("effect/Effect", "succeed")}(${
          reference(ts.isYieldExpression(node.parent) ? node.parent : node, value, typeArgs, c)
        })`,
      set: ({ args: [ref, value] }, c) =>
        ref && value &&
        `${c.name("effect/Effect", "withFiber")}((fiber) => ${
          sync(
            c,
            `fiber.setContext(${c.name("effect/Context", "add")}(fiber.context, ${c.text(ref)}, ${c.text(value)}))`
          )
        })`,
      unsafeMake: ({ args: [value], node, typeArgs }, c) => value && reference(node, value, typeArgs, c)
    }
  },
  members: {
    "effect/Fiber#Fiber": { await: (node, c) => `${c.name("effect/Fiber", "await")}(${c.text(node.expression)})` }
  },
  methods: {
    "effect/Fiber#Fiber": {
      id: ({ target }, c) => `${c.text(target)}.id`,
      interruptAsFork: ({ target }, c) => sync(c, `${c.text(target)}.interruptUnsafe()`)
    },
    [runtimeFiber]: {
      id: ({ target }, c) => `${c.text(target)}.id`,
      unsafePoll: ({ target }, c) => `(${c.text(target)}.pollUnsafe() ?? null)`
    }
  },
  nodes: {
    BinaryExpression: ({ left, operatorToken, right }, c) => {
      const poll = right.kind === ts.SyntaxKind.NullKeyword ? polled(left, c) : undefined
      return poll && `${poll} ${operatorToken.getText()} undefined`
    },
    CallExpression: ({ arguments: args, expression }, c) => {
      if (!ts.isPropertyAccessExpression(expression)) return undefined
      const assertion = assertions.get(expression.name.text)
      const poll = assertion && polled(args[0], c)
      return poll &&
        `${c.text(expression.expression)}.${assertion}(${
          [poll, ...args.slice(1).map((arg) => c.text(arg))].join(", ")
        })`
    },
    // No fiber is no id.
    PropertyAccessExpression: (node, c) => c.isName(node, "effect/FiberId", "none") ? "undefined" : undefined,
    // What an interruption ends with is asked for by itself.
    YieldExpression: ({ expression, parent }, c) => {
      if (expression === undefined || ts.isExpressionStatement(parent) || !ts.isCallExpression(expression)) {
        return undefined
      }
      const [fiber] = expression.arguments
      if (fiber === undefined || !c.isName(expression.expression, "effect/Fiber", "interrupt")) return undefined
      const [andThen, await_] = [c.name("effect/Effect", "andThen"), c.name("effect/Fiber", "await")]
      return `yield* ${andThen}(${c.children(expression)}, ${await_}(${c.text(fiber)}))`
    }
  }
})

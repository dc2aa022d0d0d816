/** Small things: values that have become plain, options that are gone. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { propertyOf, rules } from "../convert/rules.js"

/** An object literal without one of its properties. */
const without = (object: ts.ObjectLiteralExpression, name: string, file: File): string =>
  `{ ${
    object.properties.filter((property) => property.name?.getText() !== name).map((property) => file.text(property))
      .join(", ")
  } }`

/** An expression as the body of an arrow function. */
const asBody = (node: ts.Node, text: string): string =>
  ts.isArrowFunction(node.parent) && node.parent.body === node && text.startsWith("{") ? `(${text})` : text

const isEffect = (type: ts.Type, file: File): boolean => file.isTypeFrom(type, ["effect/Effect#Effect"])

/** A function for `Effect.tap` that gives no effect: `tap(self, () => void (x = 1))`. */
const asSync = (f: ts.Expression, file: File): string | undefined => {
  if (!ts.isArrowFunction(f)) return undefined
  const [signature] = file.typeOf(f).getCallSignatures()
  if (signature === undefined) return undefined
  const type = file.checker.getReturnTypeOfSignature(signature)
  const isPlain = !(type.isUnion() ? type.types : [type]).some((one) =>
    isEffect(one, file) || one.getProperty("pipe") !== undefined || (one.flags & ts.TypeFlags.Any) !== 0
  )
  if (!isPlain) return undefined
  const parameters = f.parameters.map((parameter) => file.text(parameter)).join(", ")
  return `(${parameters}) => ${file.name("effect/Effect", "sync")}(() => ${file.text(f.body)})`
}

export default rules({
  names: {
    "effect/Effect": { once: "cached" }
  },
  calls: {
    "@effect/platform-node/NodeHttpClient": {
      makeUndici: ({ args }, file) =>
        `yield* ${file.name("effect/Effect", "provideService")}(${
          file.name("@effect/platform-node/NodeHttpClient", "makeUndici")
        }, ${file.name("@effect/platform-node/NodeHttpClient", "Dispatcher")}, ${file.texts(args)})`
    },
    "effect/Config": {
      redacted: ({ args: [config] }, file) =>
        config === undefined || ts.isStringLiteral(config) || !file.isType(config, "effect/Config#Config")
          ? undefined
          : `${file.name("effect/Config", "map")}(${file.text(config)}, (value) => ${
            file.name("effect/Redacted", "make")
          }(value))`
    },
    "effect/Data": {
      // Plain objects are compared by their content.
      struct: ({ args: [fields], node }, file) => fields && asBody(node, file.text(fields))
    },
    "effect/Effect": {
      logWithLevel: ({ args: [level, ...message] }, file) =>
        level && `${file.name("effect/Effect", "logWithLevel")}(${file.text(level)})(${file.texts(message)})`,
      makeSpan: ({ args: [name, options] }, file) =>
        name === undefined || propertyOf(options, "captureStackTrace") === undefined ||
          options === undefined || !ts.isObjectLiteralExpression(options)
          ? undefined
          : `${file.name("effect/Effect", "makeSpan")}(${file.text(name)}, ${
            without(options, "captureStackTrace", file)
          })`,
      tap: ({ args }, file) => {
        const f = args[args.length - 1]
        const wrapped = f && asSync(f, file)
        return wrapped === undefined
          ? undefined
          : `${file.name("effect/Effect", "tap")}(${
            [...args.slice(0, -1).map((arg) => file.text(arg)), wrapped].join(", ")
          })`
      },
      // A fork does not inherit that its parent cannot be interrupted: it is told so.
      uninterruptible: ({ args: [self] }, file) => {
        if (self === undefined || !ts.isCallExpression(self)) return undefined
        const name = file.nameOf(self.expression)
        return name?.module === "effect/Effect" && /^fork(In|Daemon|Scoped)?$/.test(name.name)
          ? `${file.text(self.expression)}(${file.texts(self.arguments)}, { uninterruptible: true })`
          : undefined
      },
      when: ({ args }, file) => {
        const condition = args[args.length - 1]
        if (condition === undefined || !ts.isArrowFunction(condition)) return undefined
        const texts = args.slice(0, -1).map((arg) => file.text(arg))
        return `${file.name("effect/Effect", "when")}(${
          [...texts, `${file.name("effect/Effect", "sync")}(${file.text(condition)})`].join(", ")
        })`
      }
    }
  },
  nodes: {
    ObjectLiteralExpression: (node, file) =>
      propertyOf(node, "_tag")?.getText() === "\"SpanLink\"" ? without(node, "_tag", file) : undefined,
    PropertyAccessExpression: (node, file) => {
      const name = file.nameOf(node)
      return name?.module === "effect/ExecutionStrategy" ? `"${name.name}"` : undefined
    }
  }
})

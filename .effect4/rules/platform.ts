/** Failures of the platform, which have a reason, key-value stores, and terminals. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { propertyOf, rules } from "../convert/rules.js"

const store = "effect/persistence/KeyValueStore"

/** A store gives `undefined` where it gave none; programs and stores of one's own go on with an `Option`. */
const toOption = (operation: string, c: File): string =>
  `${c.name("effect/Effect", "map")}(${operation}, ${c.name("effect/Option", "fromUndefinedOr")})`

const read =
  (name: string) => ({ args, target }: { readonly args: ReadonlyArray<ts.Node>; readonly target: ts.Node }, c: File) =>
    toOption(`${c.text(target)}.${name}(${c.texts(args)})`, c)

const readers = new Set(["get", "getUint8Array"])

/** Whether an object literal is a key-value store, or a part of one: by where it stands, or by what it copies. */
const isStore = (object: ts.ObjectLiteralExpression, c: File): boolean => {
  const copies = object.properties.some((property) =>
    ts.isSpreadAssignment(property) && c.isType(property.expression, "@effect/platform/KeyValueStore#KeyValueStore")
  )
  const type = c.checker.getContextualType(object)
  const get = type && c.checker.getNonNullableType(type).getProperty("get")
  return copies ||
    (get?.declarations?.some((declaration) =>
      /\/@effect\/platform\/(?:dist\/dts|src)\/KeyValueStore\b/.test(declaration.getSourceFile().fileName)
    ) ?? false)
}

/** The function that reads an entry, as a store of Effect 4 has it. */
const reader = (property: ts.PropertyAssignment, c: File): string | undefined => {
  const { initializer, name } = property
  if (
    !ts.isIdentifier(name) || !readers.has(name.text) || !ts.isObjectLiteralExpression(property.parent) ||
    !isStore(property.parent, c) || !ts.isArrowFunction(initializer) || ts.isBlock(initializer.body)
  ) return undefined
  const parameters = c.texts(initializer.parameters)
  const getOrUndefined = c.name("effect/Option", "getOrUndefined")
  return `${name.text}: (${parameters}) => ${c.name("effect/Effect", "map")}(${
    c.text(initializer.body)
  }, ${getOrUndefined})`
}

/** Stores must list their keys; those of this library have no use for it. */
const make = (name: string) => ({ args: [options] }: { readonly args: ReadonlyArray<ts.Node> }, c: File) => {
  if (options === undefined || !ts.isObjectLiteralExpression(options)) return undefined
  const failure = `new ${c.name(store, "KeyValueStoreError")}({ method: "keys", message: "the keys are not listed" })`
  const properties = [
    ...options.properties.map((property) => c.text(property)),
    `keys: ${c.name("effect/Effect", "fail")}(${failure})`
  ]
  return `${c.name(store, name)}({\n${properties.join(",\n")}\n})`
}

const isSystemError = (node: ts.Node): boolean => ts.isStringLiteral(node) && node.text === "SystemError"

export default rules({
  calls: {
    "@effect/platform/KeyValueStore": { make: make("make"), makeStringOnly: make("makeStringOnly") }
  },
  methods: {
    "@effect/platform/KeyValueStore#KeyValueStore": { get: read("get"), getUint8Array: read("getUint8Array") }
  },
  nodes: {
    // `error._tag === "SystemError"`
    BinaryExpression: ({ left, operatorToken, right }, c) =>
      isSystemError(right) && ts.isPropertyAccessExpression(left) && left.name.text === "_tag"
        ? `${c.text(left)} ${operatorToken.getText()} "PlatformError"`
        : undefined,
    NewExpression: (node, c) => {
      const name = c.nameOf(node.expression)
      const [options] = node.arguments ?? []
      if (name?.module !== "@effect/platform/Error" || name.name !== "SystemError" || options === undefined) {
        return undefined
      }
      if (!ts.isObjectLiteralExpression(options)) return undefined
      const properties = options.properties.map((property) =>
        property.name?.getText() === "reason"
          ? `_tag: ${c.text(propertyOf(options, "reason") ?? property)}`
          : c.text(property)
      )
      return `${c.name("effect/PlatformError", "systemError")}({ ${properties.join(", ")} })`
    },
    PropertyAccessExpression: ({ expression, name }, c) =>
      name.text === "reason" && c.isType(expression, "@effect/platform/Error#SystemError")
        ? `${c.text(expression)}.reason._tag`
        : undefined,
    PropertyAssignment: reader
  }
})

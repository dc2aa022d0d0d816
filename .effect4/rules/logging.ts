/** Log levels are strings, and a layer gives all loggers that are in use. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, propertyOf, rules } from "../convert/rules.js"

const levels = new Map(Object.entries({
  All: "All",
  Fatal: "Fatal",
  Error: "Error",
  Warning: "Warn",
  Info: "Info",
  Debug: "Debug",
  Trace: "Trace",
  None: "None"
}))

/** A layer of a logger beside those that are there, or in their place. */
const layerOf = (c: File, loggers: string, isAdded = false): string =>
  `${c.name("effect/Logger", "layer")}([${loggers}]${isAdded ? ", { mergeWithExisting: true }" : ""})`

const isDefault = (logger: ts.Expression | undefined, c: File): boolean =>
  logger !== undefined && c.isName(logger, "effect/Logger", "defaultLogger")

/** Whether an identifier is the annotations that a logger takes from its options. */
const areAnnotations = (node: ts.Identifier, c: File): boolean => {
  if (node.text !== "annotations") return false
  const declaration = c.checker.getSymbolAtLocation(node)?.valueDeclaration
  return declaration !== undefined && ts.isBindingElement(declaration) &&
    c.isType(declaration.parent, "effect/Logger#Logger.Options", "effect/Logger#Options")
}

/** Whether a pretty logger writes to the standard error output, which is a setting of its own now. */
const stderrOf = (options: ts.Expression | undefined): ts.Expression | undefined => propertyOf(options, "stderr")

const level = ({ args }: Call, c: File): string => {
  const wanted = args[args.length - 1]
  const self = args.length > 1 ? `${c.text(args[0] as ts.Node)}, ` : "" // sound: there are two
  const name = c.name("effect/References", "MinimumLogLevel")
  return `${c.name("effect/Effect", "provideService")}(${self}${name}, ${wanted === undefined ? "" : c.text(wanted)})`
}

/** Members that each level of Effect 3 declares. */
const members = {
  label: (node: ts.PropertyAccessExpression, c: File) => `${c.text(node.expression)}.toUpperCase()`,
  ordinal: (node: ts.PropertyAccessExpression, c: File) =>
    `${c.name("effect/LogLevel", "getOrdinal")}(${c.text(node.expression)})`
}

export default rules({
  calls: {
    "effect/Logger": {
      add: ({ args }, c) => layerOf(c, c.texts(args), true),
      remove: ({ args }, c) => isDefault(args[0], c) ? layerOf(c, "") : undefined,
      prettyLogger: ({ args: [options] }, c) => {
        if (stderrOf(options) === undefined || options === undefined || !ts.isObjectLiteralExpression(options)) {
          return undefined
        }
        const others = options.properties.filter((property) => property.name?.getText() !== "stderr")
        return `${c.name("effect/Logger", "consolePretty")}({ ${
          others.map((property) => c.text(property)).join(", ")
        } })`
      },
      replace: ({ args: [replaced, logger] }, c) => {
        if (!isDefault(replaced, c) || logger === undefined) return undefined
        const layer = layerOf(c, c.text(logger))
        const stderr = ts.isCallExpression(logger) ? stderrOf(logger.arguments[0]) : undefined
        return stderr === undefined
          ? layer
          : `${c.name("effect/Layer", "merge")}(${layer}, ${c.name("effect/Layer", "succeed")}(${
            c.name("effect/Logger", "LogToStderr")
          }, ${c.text(stderr)}))`
      },
      withMinimumLogLevel: level
    }
  },
  members: Object.fromEntries(
    ["LogLevel", ...levels.keys()].map((name) => [`effect/LogLevel#${name}`, members])
  ),
  nodes: {
    BindingElement: (node, c) => ts.isIdentifier(node.name) && areAnnotations(node.name, c) ? "fiber" : undefined,
    Identifier: (node, c) =>
      !ts.isBindingElement(node.parent) && areAnnotations(node, c)
        ? `${c.name("effect/HashMap", "fromIterable")}(Object.entries(fiber.getRef(${
          c.name("effect/References", "CurrentLogAnnotations")
        })))`
        : undefined,
    PropertyAccessExpression: (node, c) => {
      const name = c.nameOf(node)
      const to = name?.module === "effect/LogLevel" ? levels.get(name.name) : undefined
      return to && JSON.stringify(to)
    }
  }
})

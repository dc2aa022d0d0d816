/** The command line: options are flags, arguments and flags are named by their types. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, propertyOf, rules } from "../convert/rules.js"

const flag = "effect/cli/Flag"

/** `Args.text({ name: "id" })` → `Argument.String("id")`. */
const argument = (type: string) => ({ args: [options] }: Call, c: File): string | undefined => {
  const name = propertyOf(options, "name")
  return name && `${c.name("effect/cli/Argument", type)}(${c.text(name)})`
}

/** `{ exists: "yes" }` → `{ mustExist: true }`. */
const path = (type: string) => ({ args: [name, options] }: Call, c: File): string | undefined => {
  const exists = propertyOf(options, "exists")
  return name && `${c.name(flag, type)}(${c.text(name)}${exists === undefined ? "" : ", { mustExist: true }"})`
}

/** A flag that is not given is false. */
const boolean = ({ args }: Call, c: File): string =>
  `${c.name(flag, "withDefault")}(${c.name(flag, "Boolean")}(${c.texts(args)}), false)`

/** The standard input, which stays open when it has been read. */
const stdin = (c: File): string =>
  `${c.name("@effect/platform-node/NodeStream", "fromReadable")}({
    evaluate: () => process.stdin,
    closeOnDone: false,
    onError: (cause) =>
      ${c.name("effect/PlatformError", "systemError")}({ _tag: "Unknown", module: "Stdin", method: "stdin", cause })
  })`

/** Runs the program without the pretty logger, which Effect 4 does not set. */
const runMain = ({ args: [options, ...others] }: Call, c: File): string | undefined => {
  if (options === undefined || !ts.isObjectLiteralExpression(options) || others.length > 0) return undefined
  const properties = options.properties.filter((property) => property.name?.getText() !== "disablePrettyLogger")
  return `${c.name("@effect/platform-node/NodeRuntime", "runMain")}({\n${
    properties.map((property) => c.text(property)).join(",\n")
  }\n})`
}

export default rules({
  names: {
    "@effect/cli/Options": { Options: "Flag", choice: "Literals", integer: "Int", text: "String" }
  },
  calls: {
    "@effect/cli/Args": { integer: argument("Int"), text: argument("String") },
    "@effect/platform-node/NodeRuntime": { runMain },
    "@effect/cli/Options": { boolean, directory: path("Directory"), file: path("File") }
  },
  nodes: {
    PropertyAccessExpression: (node, c) =>
      c.isName(node, "@effect/platform-node/NodeStream", "stdin") ? stdin(c) : undefined
  }
})

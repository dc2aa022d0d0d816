/** Tracers: a span has options instead of arguments, and annotations instead of a context. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, propertyOf, rules } from "../convert/rules.js"

const evaluate = "~effect/Effect/evaluate"

/** What the arguments of `span` are called in its options. */
const names = ["name", "parent", "annotations", "links", "startTime", "kind"]

/** `(name, parent, context) => …` takes its options by these names. */
const spanOf = (node: ts.Expression, c: File): string => {
  if (!ts.isArrowFunction(node) || node.parameters.some(({ dotDotDotToken }) => dotDotDotToken !== undefined)) {
    return c.text(node)
  }
  const bindings = node.parameters.flatMap(({ name }, nth) => {
    const [local, option] = [name.getText(), names[nth] ?? "options"]
    return local === "_" ? [] : local === option ? local : `${option}: ${local}`
  })
  return `({ ${bindings.join(", ")} }) => ${c.text(node.body)}`
}

/** Whether a function only runs what it is given. */
const isIdentity = (node: ts.Expression): boolean =>
  ts.isArrowFunction(node) && ts.isCallExpression(node.body) && node.body.arguments.length === 0 &&
  node.body.expression.getText() === node.parameters[0]?.name.getText()

/** `(run, fiber) => run()` evaluates a primitive of the fiber. */
const contextOf = (node: ts.Expression, c: File): string => {
  if (!ts.isArrowFunction(node)) return c.text(node)
  const [run, fiber] = node.parameters.map(({ name }) => name.getText())
  const body = c.text(node.body)
  return `(${run}, ${fiber ?? "fiber"}) => ${
    body.replaceAll(`${run}()`, `${run}[${JSON.stringify(evaluate)}](${fiber ?? "fiber"})`)
  }`
}

const make = ({ args: [options] }: Call, c: File): string | undefined => {
  const [context, span] = [propertyOf(options, "context"), propertyOf(options, "span")]
  if (context === undefined || span === undefined) return undefined
  const parts = [`span: ${spanOf(span, c)}`]
  if (!isIdentity(context)) parts.unshift(`context: ${contextOf(context, c)}`)
  return `${c.name("effect/Tracer", "make")}({ ${parts.join(", ")} })`
}

/** Options whose `context` is called `annotations`. */
const annotated = (module: string, name: string) => (call: Call, c: File): string | undefined =>
  call.args.some((arg) => propertyOf(arg, "context") !== undefined)
    ? `${c.name(module, name)}(${
      call.args.map((arg) => {
        const context = propertyOf(arg, "context")
        return context === undefined || !ts.isObjectLiteralExpression(arg) ?
          c.text(arg) :
          `{ ${
            arg.properties.map((property) =>
              property.name?.getText() === "context" ? `annotations: ${c.text(context)}` : c.text(property)
            ).join(", ")
          } }`
      }).join(", ")
    })`
    : undefined

const isSpan = (node: ts.Node, c: File): boolean =>
  ts.isClassLike(node) &&
  (node.heritageClauses ?? []).some(({ types }) =>
    types.some(({ expression }) => c.isName(expression, "effect/Tracer", "Span"))
  )

export default rules({
  calls: {
    "effect/Effect": { withSpan: annotated("effect/Effect", "withSpan") },
    "effect/Tracer": { externalSpan: annotated("effect/Tracer", "externalSpan"), make }
  },
  nodes: {
    // The context of a span that a class implements.
    PropertyDeclaration: (node, c) =>
      node.name.getText() === "context" && isSpan(node.parent, c)
        ? c.children(node).replace(/\bcontext\b/, "annotations")
        : undefined
  }
})

/** Workflows and SQL: a workflow is made by its tag, what it has come to is an `Option`, and failures have another field for their kind. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { propertyOf, rules } from "../convert/rules.js"

/** Gives `undefined` where there was none: an execution that is not known. */
const polled = (result: string, c: File): string =>
  `${c.name("effect/Effect", "map")}(${result}, ${c.name("effect/Option", "getOrUndefined")})`

/** A program's own engine, given as a service. */
const isEngine = (object: ts.Node, c: File): boolean => {
  let call = object.parent
  while (ts.isAsExpression(call) || ts.isParenthesizedExpression(call)) call = call.parent
  return ts.isCallExpression(call) &&
    call.arguments.some((arg) => c.isName(arg, "@effect/workflow/WorkflowEngine", "WorkflowEngine"))
}

export default rules({
  names: { "@effect/sql-pg/PgClient": { PgClientConfig: "PgPoolConfig" } },
  calls: {
    "@effect/workflow/Workflow": {
      make: ({ args: [options] }, c) => {
        const name = propertyOf(options, "name")
        if (name === undefined || options === undefined || !ts.isObjectLiteralExpression(options)) return undefined
        const others = options.properties.filter((property) => property.name?.getText() !== "name")
        return `${c.name("effect/workflow/Workflow", "make")}(${c.text(name)}, {\n${
          others.map((property) => c.text(property)).join(",\n")
        }\n})`
      }
    }
  },
  members: {
    "@effect/workflow/Workflow#Workflow": {
      name: "_tag",
      poll: ({ expression }, c) => `(executionId) => ${polled(`${c.text(expression)}.poll(executionId)`, c)}`
    }
  },
  methods: {
    "@effect/workflow/Workflow#Workflow": {
      poll: ({ args, target }, c) => polled(`${c.text(target)}.poll(${c.texts(args)})`, c)
    }
  },
  nodes: {
    PropertyAssignment: ({ initializer, name, parent }, c) =>
      name.getText() === "poll" && ts.isArrowFunction(initializer) && !ts.isBlock(initializer.body) &&
        isEngine(parent, c)
        ? `poll: () => ${c.name("effect/Effect", "map")}(${c.text(initializer.body)}, ${
          c.name("effect/Option", "fromUndefinedOr")
        })`
        : undefined,
    PropertyAccessExpression: ({ expression, name }, c) =>
      name.text === "reason" && c.isType(expression, "@effect/sql/Migrator#MigrationError")
        ? `${c.text(expression)}.kind`
        : undefined
  }
})

/** A router that is written as one expression becomes the layers of its routes. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { type Call, rules } from "../convert/rules.js"

const router = "@effect/platform/HttpRouter"
const target = "effect/http/HttpRouter"

const add = (method: string) => ({ args }: Call, c: File): string =>
  `${c.name(target, "add")}(${JSON.stringify(method)}, ${c.texts(args)})`

export default rules({
  calls: {
    [router]: { get: add("GET"), post: add("POST"), put: add("PUT"), patch: add("PATCH"), del: add("DELETE") },
    "@effect/platform/HttpServer": {
      serve: ({ args: [app] }, c) =>
        app && c.isType(app, `${router}#HttpRouter`) ? `${c.name(target, "serve")}(${c.text(app)})` : undefined
    }
  },
  nodes: {
    // `HttpRouter.empty.pipe(HttpRouter.get(…), …)`
    CallExpression: ({ arguments: routes, expression }, c) => {
      if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== "pipe") return undefined
      if (!c.isName(expression.expression, router, "empty")) return undefined
      return routes.length === 1 ? c.texts(routes) : `${c.name("effect/Layer", "mergeAll")}(${c.texts(routes)})`
    }
  }
})

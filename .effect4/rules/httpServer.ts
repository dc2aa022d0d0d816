/** HTTP servers: an application is an effect, routes have a shorter name, and addresses are those of `effect/net`. */
import ts from "typescript"
import { propertyOf, rules } from "../convert/rules.js"

export default rules({
  names: {
    "@effect/platform/HttpRouter": { makeRoute: "route" },
    "@effect/platform/HttpServer": { Address: "effect/net/NetAddress#SocketAddress" }
  },
  calls: {
    "@effect/platform/Headers": {
      remove: ({ args: [self, names] }, c) =>
        self && names && c.checker.isArrayLikeType(c.typeOf(names))
          ? `${c.name("effect/http/Headers", "removeMany")}(${c.texts([self, names])})`
          : undefined
    },
    "@effect/platform/HttpApiSwagger": {
      layerHttpLayerRouter: ({ args: [options] }, c) => {
        const [api, path] = [propertyOf(options, "api"), propertyOf(options, "path")]
        return api && path &&
          `${c.name("effect/http-api/HttpApiSwagger", "layer")}(${c.text(api)}, { path: ${c.text(path)} })`
      }
    }
  },
  methods: {
    "@effect/platform/HttpServerRequest#HttpServerRequest": {
      // The address of another machine may be left out or removed.
      modify: ({ args: [options], target }, c) => {
        const address = propertyOf(options, "remoteAddress")
        if (address === undefined || options === undefined || !ts.isObjectLiteralExpression(options)) return undefined
        const properties = options.properties.map((property) =>
          property.name?.getText() === "remoteAddress"
            ? `remoteAddress: ${c.name("effect/Option", "some")}(${c.text(address)})`
            : c.text(property)
        )
        return `${c.text(target)}.modify({ ${properties.join(", ")} })`
      }
    }
  },
  nodes: {
    // `address._tag === "TcpAddress"`
    BinaryExpression: ({ left, operatorToken, right }, c) => {
      if (!ts.isStringLiteral(right) || right.text !== "TcpAddress" || !ts.isPropertyAccessExpression(left)) {
        return undefined
      }
      const not = operatorToken.kind === ts.SyntaxKind.ExclamationEqualsEqualsToken ? "!" : ""
      return `${not}${c.name("effect/net/NetAddress", "isInetAddress")}(${c.text(left.expression)})`
    }
  },
  types: {
    "@effect/platform/HttpApp": {
      // An application is the effect of its response.
      Default: ({ typeArguments: [error, needs] = [] }, c) => {
        const request = c.typeName("effect/http/HttpServerRequest", "HttpServerRequest")
        return `${c.typeName("effect/Effect", "Effect")}<${
          c.typeName("effect/http/HttpServerResponse", "HttpServerResponse")
        }, ${error === undefined ? "never" : c.text(error)}, ${
          needs === undefined ? request : `${c.text(needs)} | ${request}`
        }>`
      }
    }
  }
})

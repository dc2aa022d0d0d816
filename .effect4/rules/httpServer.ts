/** HTTP servers: an application is an effect, routes have a shorter name, and addresses are those of `effect/net`. */
import { rules } from "../convert/rules.js"

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
    }
  },
  types: {
    "@effect/platform/HttpApp": {
      // An application is the effect of its response.
      Default: ({ typeArguments: [error, needs] = [] }, c) => {
        const request = c.typeName("effect/http/HttpServerRequest", "HttpServerRequest")
        return `${c.typeName("effect/Effect", "Effect")}<${c.typeName("effect/http/HttpServerResponse", "HttpServerResponse")}, ${
          error === undefined ? "never" : c.text(error)
        }, ${needs === undefined ? request : `${c.text(needs)} | ${request}`}>`
      }
    }
  }
})

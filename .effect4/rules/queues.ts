/** Members of queues and of references that can be followed are functions. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

const isGetRight = (node: ts.Node, c: File): boolean => c.isName(node, "effect/Either", "getRight")

/** A function to an option as one to a result. */
const filterOf = (f: ts.Expression, c: File): string | undefined => {
  if (isGetRight(f, c)) return c.name("effect/Function", "identity")
  if (!ts.isArrowFunction(f) || ts.isBlock(f.body)) return undefined
  const [parameters, body] = [f.parameters.map((each) => c.text(each)).join(", "), f.body]
  const [either] = ts.isCallExpression(body) && isGetRight(body.expression, c) ? body.arguments : []
  const result = either === undefined
    ? `${c.name("effect/Result", "fromOption")}(${c.text(body)}, () => undefined)`
    : c.text(either)
  return `(${parameters}) => ${result}`
}

export default rules({
  calls: {
    "effect/Stream": {
      // A filter gives a result, not an option.
      filterMap: ({ args }, c) => {
        const f = args[args.length - 1]
        if (f === undefined) return undefined
        const self = args.slice(0, -1).map((arg) => `${c.text(arg)}, `).join("")
        const filter = filterOf(f, c)
        return filter && `${c.name("effect/Stream", "filterMap")}(${self}${filter})`
      }
    }
  },
  members: {
    "effect/LayerMap#TagClass": { Default: "layer" },
    "effect/SubscriptionRef#SubscriptionRef": {
      changes: (node, c) => `${c.name("effect/SubscriptionRef", "changes")}(${c.text(node.expression)})`
    }
  },
  methods: {
    "effect/Queue#Enqueue": {
      unsafeOffer: ({ args: [value], target }, c) =>
        `${c.name("effect/Queue", "offerUnsafe")}(${c.text(target)}, ${
          value === undefined ? "undefined" : c.text(value)
        })`
    }
  },
  names: { "effect/Schema": { optionalElement: "optionalKey" } },
  types: { "@effect/platform-node/NodeHttpClient": { UndiciRequestOptions: () => "never" } }
})

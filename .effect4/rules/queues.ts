/** Members of queues and of references that can be followed are functions. */
import { rules } from "../convert/rules.js"

export default rules({
  members: {
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

/** Fibers: there is one kind. */
import ts from "typescript"
import { rules } from "../convert/rules.js"

export default rules({
  calls: {
    "effect/Fiber": {
      all: ({ args }, c) => `${c.name("effect/Fiber", "joinAll")}(${c.texts(args)})`,
      interruptFork: ({ args: [fiber] }, c) =>
        fiber && `${c.name("effect/Effect", "sync")}(() => ${c.text(fiber)}.interruptUnsafe())`,
      interruptAsFork: ({ args: [fiber] }, c) =>
        fiber && `${c.name("effect/Effect", "sync")}(() => ${c.text(fiber)}.interruptUnsafe())`,
      // `join(all(fibers))` is `joinAll(fibers)`.
      join: ({ args: [fiber] }, c) =>
        fiber && ts.isCallExpression(fiber) && c.isName(fiber.expression, "effect/Fiber", "all")
          ? c.text(fiber)
          : undefined,
      poll: ({ args: [fiber] }, c) =>
        fiber &&
        `${c.name("effect/Effect", "sync")}(() => ${c.name("effect/Option", "fromUndefinedOr")}(${
          c.text(fiber)
        }.pollUnsafe()))`
    }
  },
  names: { "effect/Fiber": { RuntimeFiber: "Fiber", "Fiber.RuntimeFiber": "Fiber" } }
})

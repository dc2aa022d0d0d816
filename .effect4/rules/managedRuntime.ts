/** Runtimes that are built of layers, and layers that set what fibers have without one. */
import { rules } from "../convert/rules.js"

export default rules({
  members: { "effect/ManagedRuntime#ManagedRuntime": { runtime: "context" } },
  calls: {
    "effect/Layer": {
      setTracer: ({ args }, c) =>
        `${c.name("effect/Layer", "succeed")}(${c.name("effect/Tracer", "Tracer")}, ${c.texts(args)})`
    },
    "effect/Logger": {
      minimumLogLevel: ({ args }, c) =>
        `${c.name("effect/Layer", "succeed")}(${c.name("effect/References", "MinimumLogLevel")}, ${c.texts(args)})`
    }
  }
})

/** Fibers and their settings: a fiber-local is a reference, one of the services in a fiber's context. */
import ts from "typescript"
import { rules } from "../convert/rules.js"

export default rules({
  names: {
    "effect/FiberRef": {
      FiberRef: "effect/Context#Reference",
      currentLoggers: "effect/References#CurrentLoggers",
      currentMetricLabels: "effect/Metric#CurrentMetricAttributes",
      currentMinimumLogLevel: "effect/References#MinimumLogLevel",
      currentTracerEnabled: "effect/References#TracerEnabled",
      currentTracerTimingEnabled: "effect/References#TracerTimingEnabled",
      unhandledErrorLogLevel: "effect/References#UnhandledLogLevel"
    }
  },
  calls: {
    "effect/Context": {
      // `Context.get(fiber.currentDefaultServices, Clock.Clock)`
      get: ({ args: [context, key] }, file) =>
        context !== undefined && key !== undefined && ts.isPropertyAccessExpression(context) &&
          context.name.text === "currentDefaultServices"
          ? `${file.text(context.expression)}.getRef(${file.text(key)})`
          : undefined
    },
    "effect/Effect": {
      withUnhandledErrorLogLevel: ({ args }, file) => {
        const level = args[args.length - 1]
        if (level === undefined) return undefined
        const isNone = ts.isCallExpression(level) && file.isName(level.expression, "effect/Option", "none")
        const value = isNone ? "undefined" : `${file.name("effect/Option", "getOrUndefined")}(${file.text(level)})`
        const reference = file.name("effect/References", "UnhandledLogLevel")
        const self = args.slice(0, -1).map((arg) => `${file.text(arg)}, `).join("")
        return `${file.name("effect/Effect", "provideService")}(${self}${reference}, ${value})`
      }
    },
    "effect/FiberRef": {
      // The services of a fiber are no reference, but its context.
      update: ({ args: [reference, change] }, file) =>
        reference !== undefined && change !== undefined && file.isName(reference, "effect/FiberRef", "currentContext")
          ? `${file.name("effect/Effect", "withFiber")}((fiber) => ${
            file.name("effect/Effect", "sync")
          }(() => fiber.setContext(${file.text(change)}(fiber.context))))`
          : undefined
    },
    "effect/GlobalValue": {
      // A reference is found by its key, so all copies of a module share it.
      globalValue: ({ args: [key, make] }, file) => {
        if (key === undefined || make === undefined || !ts.isArrowFunction(make)) return undefined
        const { body } = make
        const isReference = ts.isCallExpression(body) && file.isName(body.expression, "effect/FiberRef", "unsafeMake")
        const [initial] = isReference ? body.arguments : []
        if (initial === undefined) return undefined
        const isCall = ts.isCallExpression(initial) && initial.arguments.length === 0 &&
          ts.isIdentifier(initial.expression)
        const defaultValue = isCall ? file.text(initial.expression) : `() => ${file.text(initial)}`
        return `${file.name("effect/Context", "Reference")}(${file.text(key)}, { defaultValue: ${defaultValue} })`
      }
    }
  },
  members: {
    "effect/Fiber#RuntimeFiber": {
      currentContext: "context",
      currentSpan: "cache.span",
      currentTracer: (node, file) => `${file.text(node.expression)}.getRef(${file.name("effect/Tracer", "Tracer")})`
    }
  },
  methods: {
    "effect/Fiber#RuntimeFiber": {
      getFiberRef: ({ args, target }, file) => `${file.text(target)}.getRef(${file.texts(args)})`,
      unsafeInterruptAsFork: ({ target }, file) => `${file.text(target)}.interruptUnsafe()`
    }
  },
  nodes: {
    // Labels of metrics are a record.
    TypeReference: (node, file) => {
      const [label] = node.typeArguments ?? []
      return label !== undefined && ts.isTypeReferenceNode(label) &&
          file.isName(label.typeName, "effect/MetricLabel", "MetricLabel")
        ? "Readonly<Record<string, string>>"
        : undefined
    }
  }
})

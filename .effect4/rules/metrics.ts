/** Labels of metrics are attributes. */
import ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

const metric = "effect/Metric"

const attribute = (key: ts.Expression, value: ts.Expression, c: File): string =>
  `${ts.isStringLiteral(key) ? c.text(key) : `[${c.text(key)}]`}: ${c.text(value)}`

export default rules({
  names: {
    [metric]: { "Metric.Counter": "Counter", "Metric.Gauge": "Gauge", "Metric.Histogram": "Histogram" }
  },
  members: { "effect/Metric#Metric": { unsafeModify: "modifyUnsafe", unsafeUpdate: "updateUnsafe" } },
  calls: {
    "effect/Effect": {
      tagMetrics: ({ args }, c) => {
        const [value, key, ...self] = args.toReversed()
        if (key === undefined || value === undefined) return undefined
        const add = `(labels) => ({ ...labels, ${attribute(key, value, c)} })`
        // A reference is no requirement, which TypeScript does not infer behind a pipe.
        const types = self.length === 0 ? "<never, Readonly<Record<string, string>>>" : ""
        return `${c.name("effect/Effect", "updateService")}${types}(${
          [...self.map((node) => c.text(node)), c.name(metric, "CurrentMetricAttributes"), add].join(", ")
        })`
      }
    },
    [metric]: {
      increment: ({ args }, c) => `${c.name(metric, "update")}(${c.texts(args)}, 1)`,
      tagged: ({ args: [self, key, value] }, c) =>
        self && key && value && `${c.name(metric, "withAttributes")}(${c.text(self)}, { ${attribute(key, value, c)} })`
    }
  }
})

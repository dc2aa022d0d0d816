/** Endpoints of an `HttpApi` get their parts as options: those that are set one by one become them. Annotations come after the parts. */
import type { File } from "../convert/file.js"
import { type MethodCall, propertyOf, rules } from "../convert/rules.js"

const platform = "@effect/platform"

/** Adds an option to the call that makes the endpoint. */
const part = (name: string) => ({ args: [schema], target }: MethodCall, c: File): string | undefined => {
  const endpoint = c.text(target)
  return schema &&
    `${endpoint.endsWith(" })") ? endpoint.slice(0, -" })".length) : `${endpoint.slice(0, -1)}, {`}${
      endpoint.endsWith(" })") ? "," : ""
    } ${name}: ${c.text(schema)} })`
}

const annotateContext = ({ args, target }: MethodCall, c: File) => `${c.text(target)}.annotateMerge(${c.texts(args)})`

export default rules({
  names: { [`${platform}/HttpApiEndpoint`]: { del: "delete" } },
  calls: {
    [`${platform}/HttpApiSchema`]: {
      withEncoding: ({ args: [schema, options] }, c) => {
        const contentType = propertyOf(options, "contentType")
        return schema && contentType &&
          `${c.text(schema)}.pipe(${c.name("effect/http-api/HttpApiSchema", "asJson")}({ contentType: ${
            c.text(contentType)
          } }))`
      }
    }
  },
  methods: {
    [`${platform}/HttpApi#HttpApi`]: { annotateContext },
    [`${platform}/HttpApiEndpoint#HttpApiEndpoint`]: {
      addSuccess: part("success"),
      annotateContext,
      setPath: part("params"),
      setPayload: part("payload"),
      setUrlParams: part("query")
    }
  }
})

/** Small OpenAPI documents, and what the generator makes of them. */
import { Effect } from "effect"
import { generate, type Generated } from "../../../src/generate/generate.js"
import { readDocument } from "../../../src/generate/read/document.js"
import type { Selection } from "../../../src/generate/select.js"

export type Json = { readonly [name: string]: unknown }

const responses = (schema: unknown) => ({
  200: { description: "", content: { "application/json": { schema } } }
})

export interface Parts {
  /** The schema of what `getThing` returns. */
  readonly success?: unknown
  /** The schema of the body of `createThing`. */
  readonly body?: unknown
  /** Fields of `getThing` beside those that it needs. */
  readonly get?: Json
  /** The schemas of `components`. */
  readonly schemas?: Json
  readonly openapi?: string
  /** More paths. */
  readonly paths?: Json
}

/** A document with `getThing` and, if it has a body, `createThing`. */
export const documentOf = ({ body, get = {}, openapi = "3.1.0", paths = {}, schemas = {}, ...parts }: Parts): Json => ({
  openapi,
  info: { title: "Things", version: "1.0" },
  paths: {
    "/things": {
      get: { operationId: "getThing", responses: responses("success" in parts ? parts.success : {}), ...get },
      ...body !== undefined && {
        post: {
          operationId: "createThing",
          requestBody: { required: true, content: { "application/json": { schema: body } } },
          responses: { 204: { description: "" } }
        }
      }
    },
    ...paths
  },
  components: { schemas }
})

/** Reads and generates a document, which may be text. */
const generating = (document: Json | string, selection: Selection = {}) =>
  Effect.flatMap(
    readDocument(typeof document === "string" ? document : JSON.stringify(document)),
    ({ document, faults }) => generate(document, selection, faults)
  )

/** The generated files. */
export const generated = (document: Json, selection: Selection = {}): Effect.Effect<Generated> =>
  Effect.orDie(generating(document, selection))

/** The text of a file, with each run of white space as one space. */
export const textOf = ({ files }: Generated, path: string): string => {
  const text = files.find((file) => file.path === path)?.text
  if (text === undefined) throw new Error(`no file ${path}, only ${files.map((file) => file.path).join(", ")}`)
  return text.replace(/\s+/g, " ")
}

/** The error that generation fails with or, if it does not, the one for which the first operation is left out. */
export const failure = (document: Json | string, selection: Selection = {}) =>
  Effect.flip(
    Effect.flatMap(generating(document, selection), ({ leftOut: [first], ...rest }) =>
      first === undefined ? Effect.succeed(rest) : Effect.fail(first.error))
  )

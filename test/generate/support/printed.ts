/** What the generator prints for valid documents, which are not validated: that takes far longer than all else. */
import { Effect } from "effect"
import { generate } from "../../../src/generate/generate.js"
import type { Json } from "./documents.js"

/** The texts of the generated files by their paths. */
export const printed = (document: Json): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.orDie(generate(document)).pipe(
    Effect.map(({ files }) => Object.fromEntries(files.map(({ path, text }) => [path, text])))
  )

/** The text between two others, with each run of white space as one space; fails if one is not there. */
export const between = (text: string | undefined, start: string, end: string): string => {
  const [, rest] = (text ?? "").replace(/\s+/g, " ").split(start)
  const [found, after] = rest?.split(end) ?? []
  if (found === undefined || after === undefined) throw new Error(`no ${start}…${end} in ${text}`)
  return found
}

export const string = { type: "string" }
export const boolean = { type: "boolean" }
export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
export const list = (items: unknown): Json => ({ type: "array", items })

/** An object with these fields. */
export const object = (properties: Json, ...required: ReadonlyArray<string>): Json => ({
  type: "object",
  properties,
  required
})

interface Call {
  readonly success?: Json
  /** The schema of the body, if it has one. */
  readonly body?: Json
}

const content = (schema: Json) => ({ "application/json": { schema } })

/** The generated files of these operations by their paths, without the index. */
export const filesOf = (schemas: Json, calls: Readonly<Record<string, Call>>) =>
  Effect.map(
    printed({
      openapi: "3.1.0",
      info: { title: "Things", version: "1.0" },
      paths: Object.fromEntries(
        Object.entries(calls).map(([operationId, { body, success }]) => [`/${operationId}`, {
          put: {
            operationId,
            ...body && { requestBody: { required: true, content: content(body) } },
            responses: success === undefined ? { 204: {} } : { 200: { content: content(success) } }
          }
        }])
      ),
      components: { schemas }
    }),
    (files) => Object.fromEntries(Object.entries(files).filter(([path]) => path !== "index.ts"))
  )

/** The names that each file exports, without those of operations. */
export const exportsOf = (schemas: Json, calls: Readonly<Record<string, Call>>) =>
  Effect.map(filesOf(schemas, calls), (files) =>
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path,
        Array.from(text.matchAll(/^export const (\w+): /gm), ([, name]) => name)
      ])
    ))

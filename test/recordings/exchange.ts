/** Recorded exchanges with real tenants: one JSON object a line. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type JsonObject, objectOf } from "../generate/harness/document.js"

/** A request that a tenant answered, and its answer. Bodies are texts. */
export interface Exchange {
  /** The document's `operationId`. */
  readonly operation: string
  readonly date: string
  /** The recorder wrote the response from its own types: fields that are there are real, absent ones may not be absent in reality. */
  readonly rewritten: boolean
  readonly method: string
  readonly path: string
  readonly query: string
  readonly requestBody: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export const readExchanges = (folder: string): ReadonlyArray<Exchange> =>
  readFileSync(join(folder, "exchanges.ndjson"), "utf8").split("\n").filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line))

/** The method and the path template of each operation of a document, by its `operationId`. */
export const templatesOf = (
  document: JsonObject
): ReadonlyMap<string, { readonly method: string; readonly path: string }> =>
  new Map(
    Object.entries(objectOf(document["paths"])).flatMap(([path, item]) =>
      Object.entries(objectOf(item)).flatMap(([method, operation]) => {
        const { operationId } = objectOf(operation)
        return typeof operationId === "string" ? [[operationId, { method: method.toUpperCase(), path }] as const] : []
      })
    )
  )
